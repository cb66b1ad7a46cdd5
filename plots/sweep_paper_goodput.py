#!/usr/bin/python3
# plots/sweep_paper_goodput.py: the goodput figure of the Decoupled DiLoCo paper, published and simulated.
"""Goodput over the number of chips, a line for each number of learners: ours with intervals over seeds, the
published whole percents as crosses. Published: arXiv:2604.21428, Table 1a. The paper publishes two of its
failure parameters only; the others are calibrated (scenarios/paper/goodput.toml).

    plots/sweep_paper_goodput.py results/paper_goodput.sweep     after: atoll sweep scenarios/sweeps/paper_goodput.toml
"""
import pathlib
import sys

import results
import style
import sweep

CHIPS = (150016, 300032, 600064, 1200000, 2400000)
PUBLISHED_PERCENT = {
    "1 learner, not elastic": (72, 57, 38, 27, 18),
    "1 learner": (88, 80, 69, 58, 40),
    "2 learners": (94, 88, 80, 70, 54),
    "4 learners": (96, 93, 89, 82, 73),
    "8 learners": (98, 96, 94, 88, 80),
    "16 learners": (99, 98, 96, 93, 86),
}
X_AXIS = "island.cluster.chips"


def draw(points):
    """The figure, or the reason why there is none."""
    if X_AXIS not in points.axes or not set(points.arms) & set(PUBLISHED_PERCENT):
        return "this is not the sweep scenarios/sweeps/paper_goodput.toml"
    figure, axes = style.pyplot.subplots(figsize=(8, 4.6))
    figure.subplots_adjust(left=0.08, right=0.76, top=0.86, bottom=0.11)
    errors = []
    for index, arm in enumerate(points.arms):
        line = sweep.line_of([row for row in points.rows if row["arm"] == arm], X_AXIS, 100)
        if not line or arm not in PUBLISHED_PERCENT:
            continue
        x, mean, low, high = zip(*line)
        look = style.arm_line(index)
        axes.plot(x, mean, label=arm, **look)
        axes.fill_between(x, low, high, color=look["color"], alpha=0.25, linewidth=0)
        axes.plot(CHIPS, PUBLISHED_PERCENT[arm], linestyle="", marker="x", markersize=6, color=look["color"])
        if tuple(x) == CHIPS:
            errors += [ours - paper for ours, paper in zip(mean, PUBLISHED_PERCENT[arm])]
    axes.plot([], [], linestyle="", marker="x", color=style.MUTED, label="published (crosses)")
    axes.set_xscale("log")
    axes.set_xticks(CHIPS, ["150k", "300k", "600k", "1.2M", "2.4M"])
    axes.minorticks_off()
    axes.set_ylim(0, 102)
    axes.set_xlabel("chips, one failure a year each")
    axes.set_ylabel("goodput.stepping (percent)")
    axes.grid(color=style.FAINT, linewidth=0.6)
    axes.legend(loc="center left", bbox_to_anchor=(1.01, 0.5))
    spread = (sum(error * error for error in errors) / len(errors)) ** 0.5 if errors else float("nan")
    worst = max((abs(error) for error in errors), default=float("nan"))
    style.heading(figure, "Goodput by failure level and number of learners",
                  f"arXiv:2604.21428, Table 1a; {points.seeds_text()}; difference {spread:.1f} points rms, {worst:.1f} at most")
    return figure


def main():
    if len(sys.argv) != 2 or sys.argv[1].startswith("-"):
        print(f"usage: {sys.argv[0]} SWEEP_FOLDER", file=sys.stderr)
        return 2
    folder = pathlib.Path(sys.argv[1])
    try:
        said = results.save_or_reason(draw, sweep.Points(folder, "goodput.stepping"), folder / "plots" / "paper_goodput.png")
    except (results.Unreadable, OSError) as trouble:
        print(f"error: {trouble}", file=sys.stderr)
        return 3
    print(said)
    return 0


if __name__ == "__main__":
    sys.exit(main())
