#!/usr/bin/python3
# plots/sweep.py: one metric of a sweep over one of its axes, an arm a line, with the intervals over seeds.
"""Reads points.csv and draws <folder>/plots/sweep.png: the mean of a metric over the first axis (or --x), one
panel for each setting of the other axes (at most six), one line an arm, the interval over seeds as a band. Where
the points are no grid (zip, latin-hypercube), the other axes move along: one panel, a dot a point.

    plots/sweep.py results/first.sweep [--metric goodput.token] [--x failure.0.mtbi_s]
"""
import argparse
import csv
import math
import pathlib
import sys

import results
import style

PANELS_MAX = 6
TICKS_MAX = 6


class Points:
    """The rows of one metric, with the names of the axes; numbers as floats, an empty cell as None."""

    def __init__(self, folder, metric):
        path = pathlib.Path(folder) / "points.csv"
        try:
            with path.open(newline="", encoding="utf-8") as file:
                reader = csv.DictReader(file)
                names = reader.fieldnames or []
                rows = list(reader)
        except OSError as trouble:
            raise results.Unreadable(f"{path}: {trouble.strerror}; give the folder of a sweep") from trouble
        if "point" not in names or "metric" not in names:
            raise results.Unreadable(f"{path}: is no table of a sweep's points")
        self.axes = names[1:names.index("arm")]
        self.metric = metric
        self.rows = [row for row in rows if row["metric"] == metric]
        if not self.rows:
            known = ", ".join(sorted({row["metric"] for row in rows if row["metric"].startswith("goodput")}))
            raise results.Unreadable(f"{path}: no metric is named {metric}; some are {known}")
        self.arms = list(dict.fromkeys(row["arm"] for row in self.rows))
        values = [len({row[axis] for row in self.rows}) for axis in self.axes]
        self.is_grid = len({row["point"] for row in self.rows}) == math.prod(values)

    def seeds_text(self):
        counts = sorted({int(row["seeds"]) for row in self.rows})
        return f"{counts[0]} seeds" if len(counts) == 1 else f"{counts[0]} to {counts[-1]} seeds a point"


def number(text):
    try:
        return float(text)
    except ValueError:
        return None


def is_share(metric):
    return metric.startswith("goodput.") or metric in ("uptime", "compute_utilization", "participation")


def line_of(rows, x_axis, scale):
    """(x, mean, low, high) of the rows with a mean, by rising x; without an interval low and high are the mean."""
    line = []
    for row in rows:
        x, mean = number(row[x_axis]), number(row["mean"])
        if x is None or mean is None:
            continue
        low, high = number(row["low"]), number(row["high"])
        line.append((x, scale * mean, scale * (mean if low is None else low), scale * (mean if high is None else high)))
    return sorted(line)


def spans_decades(values):
    return min(values) > 0 and max(values) / min(values) >= 8


def draw_panel(axes, points, rows, x_axis, scale):
    seen = []
    for index, arm in enumerate(points.arms):
        line = line_of([row for row in rows if row["arm"] == arm], x_axis, scale)
        if not line:
            continue
        x, mean, low, high = zip(*line)
        look = style.arm_line(index)
        if points.is_grid:
            axes.plot(x, mean, marker="o", markersize=4, label=arm, **look)
            axes.fill_between(x, low, high, color=look["color"], alpha=0.18, linewidth=0)
        else:
            below, above = [m - l for m, l in zip(mean, low)], [h - m for m, h in zip(mean, high)]
            axes.errorbar(x, mean, (below, above), fmt="o", markersize=4, color=look["color"], label=arm,
                          elinewidth=0.9, alpha=0.8)
        seen += x
    places = sorted(set(seen))
    if seen and spans_decades(seen):
        axes.set_xscale("log")
        if len(places) <= TICKS_MAX:  # else a decade may have one label, or none
            axes.set_xticks(places, [f"{place:g}" for place in places])
            axes.minorticks_off()
    axes.set_xlabel(x_axis)
    axes.grid(color=style.FAINT, linewidth=0.6)


def draw(points, x_axis):
    """The figure, or the reason why there is none."""
    if any(number(row[x_axis]) is None for row in points.rows):
        return f"{x_axis} has values that are no numbers"
    moving = [axis for axis in points.axes if axis != x_axis]
    others = moving if points.is_grid else []
    settings = list(dict.fromkeys(tuple(row[axis] for axis in others) for row in points.rows))
    shown = settings[:PANELS_MAX]
    columns = min(3, len(shown))
    lines = (len(shown) + columns - 1) // columns
    height = 1.25 + 2.9 * lines
    figure, panels = style.pyplot.subplots(lines, columns, figsize=(9, height), squeeze=False, sharey=True)
    figure.subplots_adjust(left=0.09, right=0.98, top=1 - 1.1 / height, bottom=0.5 / height, hspace=0.45, wspace=0.1)
    scale = 100 if is_share(points.metric) else 1
    for panel in panels.flat[len(shown):]:
        panel.set_visible(False)
    for panel, setting in zip(panels.flat, shown):
        rows = [row for row in points.rows if tuple(row[axis] for axis in others) == setting]
        draw_panel(panel, points, rows, x_axis, scale)
        if others:
            panel.set_title(style.short(", ".join(f"{a} {v}" for a, v in zip(others, setting)), 46), fontsize=8.5)
    for row in panels:
        row[0].set_ylabel(points.metric + (" (percent)" if scale == 100 else ""))
    # Above all panels: a place that matplotlib finds is free of lines only, not of bands and bars.
    handles, labels = panels.flat[0].get_legend_handles_labels()
    figure.legend(handles, labels, fontsize=8, loc="upper left", bbox_to_anchor=(0.005, 1 - 0.5 / height), ncol=6,
                  frameon=False)
    along = "" if points.is_grid or not moving else f"; a dot a point; also varied: {', '.join(moving)}"
    left_out = f"; {len(settings) - len(shown)} settings left out" if len(settings) > len(shown) else ""
    style.heading(figure, f"{points.metric} over {x_axis}",
                  style.short(f"mean and interval of {points.seeds_text()}{left_out}{along}", 150))
    return figure


def main():
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("folder", help="of a sweep: it holds points.csv")
    parser.add_argument("--metric", default="goodput.token")
    parser.add_argument("--x", help="column of points.csv; the first axis if not given")
    arguments = parser.parse_args()
    try:
        points = Points(arguments.folder, arguments.metric)
        x_axis = arguments.x or (points.axes[0] if points.axes else None)
        if x_axis not in points.axes:
            raise results.Unreadable(f"no axis is named {x_axis}; axes here are {', '.join(points.axes) or '(none)'}")
        said = results.save_or_reason(lambda found: draw(found, x_axis), points,
                                      pathlib.Path(arguments.folder) / "plots" / "sweep.png")
    except (results.Unreadable, OSError) as trouble:
        print(f"error: {trouble}", file=sys.stderr)
        return 3
    print(said)
    return 0


if __name__ == "__main__":
    sys.exit(main())
