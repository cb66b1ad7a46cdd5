#!/usr/bin/python3
# plots/wan_traffic.py: wide-area traffic over time, one panel for each arm on the same axes.
"""Filled: what all wide-area links together carried for training (gradients, fragments, control). The line in
another colour, where there is any: state that returning learners fetched (recovery, checkpoints, joins).

Compare heights: all panels share both axes, so a method that sends less is lower. Conclude how much of the
links a method needs all the time, what a returning region asks of them at once, and whether a fault stops the
traffic (synchronous) or thins it (decoupled).

Grey bands: a region was down. Ticks at the bottom of a panel: any other fault that a run met (with one seed only,
and only up to 200 of them). Rates are means over windows whose width is printed in each panel: shorter
peaks are higher. With several seeds: full colour is what every seed sent, light colour what some did, the
line is the median.

    plots/wan_traffic.py RESULTS_FOLDER
"""
import bisect
import math
import statistics
import sys

import results
import style

TRAINING = ("wan_gradient_gbps", "wan_fragment_gbps", "wan_control_gbps")
RECOVERY = ("wan_recovery_gbps", "wan_checkpoint_gbps", "wan_join_gbps")
MOST_TICKS, MOST_WINDOWS = 200, 150


class Traffic:
    """Rates of one arm in windows of one width: for each window (lowest, median, highest) over the seeds."""

    def __init__(self, arm, until_s):
        tables = [run.columns("traffic.csv", "time_s", "bin_s", *TRAINING, *RECOVERY) for run in arm.runs]
        self.known = all(table[0] for table in tables)
        if not self.known:
            return
        self.window_s = max(until_s / MOST_WINDOWS, *(table[1][0] for table in tables))
        count = math.ceil(until_s / self.window_s)
        self.edges_s = [index * self.window_s for index in range(count + 1)]
        self.training = self.over_seeds(tables, slice(2, 2 + len(TRAINING)))
        self.recovery = self.over_seeds(tables, slice(2 + len(TRAINING), None))

    def over_seeds(self, tables, columns):
        by_seed = [window_means(table[0], table[1], table[columns], self.edges_s) for table in tables]
        return [(min(rates), statistics.median(rates), max(rates)) for rates in zip(*by_seed)]

    def highest_gbps(self):
        return max(high for _, _, high in self.training + self.recovery)

    def recovers(self):
        return any(median > 0 for _, median, _ in self.recovery)


def window_means(starts_s, widths_s, columns, edges_s):
    """Mean of the columns' sum in each window between two edges; nothing is sent after the last row.

    What was sent up to a date is linear inside a row, so the differences of it are exact for any window.
    """
    dates_s, sent = [starts_s[0]], [0.0]
    for start_s, width_s, *rates in zip(starts_s, widths_s, *columns):
        dates_s.append(start_s + width_s)
        sent.append(sent[-1] + sum(rates) * width_s)

    def sent_until(date_s):
        right = bisect.bisect_left(dates_s, date_s)
        if right == 0 or right == len(dates_s):
            return sent[0] if right == 0 else sent[-1]
        share = (date_s - dates_s[right - 1]) / (dates_s[right] - dates_s[right - 1])
        return sent[right - 1] + share * (sent[right] - sent[right - 1])

    so_far = [sent_until(edge_s) for edge_s in edges_s]
    return [(after - before) / (end_s - start_s) for before, after, start_s, end_s
            in zip(so_far, so_far[1:], edges_s, edges_s[1:])]


def draw_rates(axes, traffic, colour, unit_s):
    edges = [edge_s / unit_s for edge_s in traffic.edges_s]
    lows, medians, highs = zip(*traffic.training)
    axes.stairs(lows, edges, fill=True, color=colour, alpha=0.75)
    if lows != highs:
        axes.stairs(highs, edges, baseline=lows, fill=True, color=colour, alpha=0.35)
        axes.stairs(medians, edges, baseline=None, color=colour, linewidth=1.0)
    for first, end in stretches([median > 0 for _, median, _ in traffic.recovery]):
        fetched = [median for _, median, _ in traffic.recovery[first:end]]
        axes.stairs(fetched, edges[first:end + 1], color="black", linewidth=1.3)


def stretches(flags):
    """[(first, end)] of each stretch of true flags; end is the first index behind it."""
    turns = [index for index, (before, after) in enumerate(zip([False] + flags, flags + [False])) if before != after]
    return list(zip(turns[::2], turns[1::2]))


def draw_faults(axes, arm, spans, unit_s, until_s):
    for start_s, end_s, _ in spans:
        axes.axvspan(start_s / unit_s, min(end_s, until_s) / unit_s, color=style.FAINT, zorder=0, linewidth=0)
    others = [fault[0] for fault in arm.runs[0].faults() if fault[3] != "region" and fault[0] <= until_s]
    if len(arm.runs) == 1 and len(others) <= MOST_TICKS:
        axes.plot([start_s / unit_s for start_s in others], [0] * len(others), marker=2, markersize=5, linestyle="",
                  color=style.BLACK, clip_on=False, transform=axes.get_xaxis_transform())


def name_panel(axes, arm, traffic):
    mean = arm.median("wan", "mean_gbps")
    told = "no wide-area traffic" if not mean else (
        f"mean {mean:.3g} Gbit/s; windows of {style.time_text(traffic.window_s)}")
    axes.set_title(arm.name, fontsize=9.5, pad=3)
    axes.set_title(told, loc="right", fontsize=8.5, color=style.MUTED, pad=3)


def draw(arms):
    """The figure, or the reason why there is none."""
    until_s = results.time_mark_s(arms) or max(arm.median("duration_s") for arm in arms)
    drawn = [(arm, Traffic(arm, until_s)) for arm in arms]
    drawn = [(arm, traffic) for arm, traffic in drawn if traffic.known]
    top_gbps = max((traffic.highest_gbps() for _, traffic in drawn), default=0.0)
    if top_gbps == 0:
        return "no arm sent anything over a wide-area link"

    height_in = 1.45 + 1.05 * len(drawn)
    figure, panels = style.pyplot.subplots(len(drawn), 1, figsize=(9, height_in), sharex=True, sharey=True,
                                           squeeze=False)
    figure.subplots_adjust(left=0.075, right=0.975, top=1 - 0.78 / height_in, bottom=0.80 / height_in, hspace=0.42)
    unit_s, unit = style.time_unit(until_s)
    spans = [span for span in results.region_faults(arms) if span[0] < until_s]
    for index, ((arm, traffic), axes) in enumerate(zip(drawn, panels[:, 0])):
        draw_faults(axes, arm, spans, unit_s, until_s)
        draw_rates(axes, traffic, style.arm_line(index)["color"], unit_s)
        name_panel(axes, arm, traffic)
        axes.set_xlim(0, until_s / unit_s)
        axes.set_ylim(0, 1.08 * top_gbps)
    panels[-1, 0].set_xlabel(f"simulated time ({unit})")
    figure.text(0.012, 0.5, "Gbit/s, all links", rotation=90, va="center", fontsize=9)
    style.heading(figure, "Wide-area traffic over time, all links together",
                  f"{results.scenario_name(arms)}; first {style.time_text(until_s)}; {results.seeds_text(arms)}")
    key(figure, spans, any(traffic.recovers() for _, traffic in drawn),
        any(len(arm.runs) == 1 for arm in arms))
    return figure


def key(figure, spans, recovery, ticks):
    """What band, line and tick mean, at the bottom right, as far as they occur."""
    line = style.pyplot.Line2D
    rows = [(style.pyplot.Rectangle((0, 0), 1, 1, color=style.FAINT),
             f"{', '.join(sorted({region for _, _, region in spans}))} down")] if spans else []
    if recovery:
        rows.append((line([], [], color="black", linewidth=1.1), "state fetched on return"))
    if ticks:
        rows.append((line([], [], color="black", marker=2, linestyle="", markersize=5), "other faults"))
    if rows:
        figure.legend([row[0] for row in rows], [row[1] for row in rows], loc="lower right", ncol=len(rows),
                      fontsize=8.5, bbox_to_anchor=(0.98, 0.03 / figure.get_figheight()))


if __name__ == "__main__":
    sys.exit(results.one_figure(draw, "wan_traffic.png"))
