#!/usr/bin/python3
# plots/paper_goodput.py: Table 1 of the Decoupled DiLoCo paper beside our simulation of it.
"""Goodput of synthetic failures at 1.2 million chips by number of learners: the published whole percents as
bars, ours as dots. Where a dot stands on the top of its bar the simulation reproduces the paper; the
paper publishes two of its failure parameters only, the others are calibrated (scenarios/paper/goodput.toml).

Published: arXiv:2604.21428, Table 1, column 1.2M. Ours: `goodput.stepping` of the arms with these names. With
several seeds a dot is the median and its line the range.

    plots/paper_goodput.py results/goodput      after: atoll compare scenarios/paper/goodput.toml
"""
import statistics
import sys

import results
import style

PUBLISHED_PERCENT = {
    "1 learner, not elastic": 27,
    "1 learner": 58,
    "2 learners": 70,
    "4 learners": 82,
    "8 learners": 88,
    "16 learners": 93,
}


def ours_percent(arm):
    return sorted(100 * run.summary["goodput"]["stepping"] for run in arm.runs)


def draw_pair(axes, column, published, ours):
    axes.bar(column, published, width=0.62, color=style.SKY, alpha=0.55, linewidth=0)
    axes.text(column, 2, f"{published}", ha="center", fontsize=9, color=style.MUTED)
    if ours is None:
        axes.text(column, published + 2, "not run", ha="center", fontsize=8.5, color=style.MUTED)
        return
    middle = statistics.median(ours)
    axes.plot([column, column], [ours[0], ours[-1]], color=style.BLUE, linewidth=2)
    axes.plot(column, middle, marker="o", markersize=6, color=style.BLUE)
    axes.text(column, max(ours[-1], published) + 3.2, f"{middle:.1f}", ha="center", fontsize=9, color=style.BLUE)


def draw(arms):
    """The figure, or the reason why there is none."""
    by_name = {arm.name: arm for arm in arms}
    shared = [by_name[name] for name in PUBLISHED_PERCENT if name in by_name]
    if not shared:
        return "no arm has a name of Table 1, such as '8 learners'"
    chips = shared[0].runs[0].summary["chips"]
    if chips != 1_200_000:
        return f"the published column is for 1,200,000 chips; these runs have {chips:,}"

    figure, axes = style.pyplot.subplots(figsize=(7, 3.8))
    figure.subplots_adjust(left=0.085, right=0.98, top=0.80, bottom=0.13)
    for column, (name, published) in enumerate(PUBLISHED_PERCENT.items()):
        draw_pair(axes, column, published, ours_percent(by_name[name]) if name in by_name else None)
    axes.set_xticks(range(len(PUBLISHED_PERCENT)), [style.short(name, 14) for name in PUBLISHED_PERCENT])
    axes.tick_params(axis="x", length=0)
    axes.set_ylim(0, 106)
    axes.set_ylabel("goodput (percent)")
    handles = [style.pyplot.Rectangle((0, 0), 1, 1, color=style.SKY, alpha=0.55, linewidth=0),
               style.pyplot.Line2D([], [], marker="o", linestyle="", color=style.BLUE)]
    axes.legend(handles, ["published, whole percents", "simulated here"], loc="upper left")
    style.heading(figure, "Goodput by number of learners, 1.2 million chips",
                  f"arXiv:2604.21428, Table 1, beside scenarios/paper/goodput.toml; {results.seeds_text(shared)}")
    return figure


if __name__ == "__main__":
    sys.exit(results.one_figure(draw, "paper_goodput.png"))
