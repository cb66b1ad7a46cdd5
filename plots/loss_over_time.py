#!/usr/bin/python3
# plots/loss_over_time.py: held-out loss of the proxy against simulated time, for all arms.
"""Each line is one arm; all of them train the same proxy on the same examples, met by the same failures.

Read it along the vertical mark: which arm stands lowest after the same time on the same chips. Read it
along a horizontal line: how much later another arm gets to the same loss. Where all lines lie on the floor
the task is used up, and what is left between them says nothing.

The dotted line is the floor, the entropy rate of the task: no model does better on average. A held-out set is
a sample, so a loss may lie a little below it. Grey bands: a whole region was down. Lines end where the arm's run
ended. Time is on a logarithmic axis when the longest run is more than four times the shortest.

With several seeds each seed has a task of its own, with a floor of its own, so the axis is the loss above that
floor; a line is the median and its band the range, over the time that all seeds cover.

    plots/loss_over_time.py RESULTS_FOLDER
"""
import bisect
import statistics
import sys

import results
import style

LOGARITHMIC_RATIO = 4


def at(times_s, values, time_s):
    """The value at this time, on straight lines between the evaluations."""
    right = bisect.bisect_left(times_s, time_s)
    if right == 0 or times_s[right] == time_s:
        return values[right]
    share = (time_s - times_s[right - 1]) / (times_s[right] - times_s[right - 1])
    return values[right - 1] + share * (values[right] - values[right - 1])


def above_floor(arms):
    """Whether losses are drawn above the floor of each seed's own task."""
    floors = [results.number_at(run.summary, ("loss", "floor")) for arm in arms for run in arm.runs]
    return None not in floors and len(set(floors)) > 1


def zero_of(run, above):
    return run.summary["loss"]["floor"] if above else 0.0


def curve_of(arm, above):
    """(times_s, medians, lows, highs) over the seeds; None when a run holds no evaluation."""
    curves = []
    for run in arm.runs:
        times_s, losses = run.columns("loss.csv", "time_s", "loss")
        curves.append((times_s, [loss - zero_of(run, above) for loss in losses]))
    if not all(times_s for times_s, _ in curves):
        return None
    first_s, last_s = max(times[0] for times, _ in curves), min(times[-1] for times, _ in curves)
    times_s = sorted({time_s for times, _ in curves for time_s in times if first_s <= time_s <= last_s})
    by_time = [[at(times, losses, time_s) for times, losses in curves] for time_s in times_s]
    return times_s, [statistics.median(row) for row in by_time], list(map(min, by_time)), list(map(max, by_time))


def draw_curves(axes, drawn, unit_s):
    """One line for each (index, arm, curve), and its band where there are several seeds."""
    for index, arm, (times_s, medians, lows, highs) in drawn:
        times = [time_s / unit_s for time_s in times_s]
        axes.plot(times, medians, linewidth=1.8, **style.arm_line(index))
        axes.plot(times[-1:], medians[-1:], marker="o", markersize=4.5, color=style.arm_line(index)["color"])
        if len(arm.runs) > 1:
            axes.fill_between(times, lows, highs, color=style.arm_line(index)["color"], alpha=0.18, linewidth=0)


def draw_spans(axes, arms, unit_s, longest_s):
    """Grey bands where a region was down; a name at the top of each when they are few."""
    spans = [span for span in results.region_faults(arms) if span[0] < longest_s]
    for start_s, end_s, region in spans:
        axes.axvspan(start_s / unit_s, min(end_s, longest_s) / unit_s, color=style.FAINT, zorder=0, linewidth=0)
        if len(spans) <= 3:
            axes.text(start_s / unit_s, 1.005, f"{region} down", transform=axes.get_xaxis_transform(),
                      ha="right", va="bottom", fontsize=8, color=style.MUTED)


def draw_mark(axes, mark_s, unit_s):
    axes.axvline(mark_s / unit_s, color="black", linewidth=0.9)
    axes.text(mark_s / unit_s, 1.005, f" mark: {style.time_text(mark_s)}", ha="left", va="bottom", fontsize=8,
              transform=axes.get_xaxis_transform())


def loss_at_mark(arm, above):
    """Median over seeds of the loss at the time mark; None without a mark or before an evaluation."""
    losses = [results.number_at(run.summary, ("marks", "time", "loss")) for run in arm.runs]
    if None in losses:
        return None
    return statistics.median(loss - zero_of(run, above) for loss, run in zip(losses, arm.runs))


def beside(axes, drawn, above):
    """Names at the right in the order of the loss at the time mark (or at the end), with that loss."""
    rows = []
    for index, arm, curve in drawn:
        loss, when = loss_at_mark(arm, above), "mark"
        if loss is None:
            loss, when = curve[1][-1], "end"
        rows.append((loss, index, f"{style.short(arm.name, 22)}\n{loss:.3f} at the {when}"))
    rows.sort(reverse=True)
    handles = [style.pyplot.Line2D([], [], linewidth=1.8, **style.arm_line(index)) for _, index, _ in rows]
    axes.legend(handles, [text for _, _, text in rows], loc="upper left", bbox_to_anchor=(1.01, 1.0),
                labelspacing=1.0, fontsize=8.5, borderaxespad=0)


def draw_floor(axes, floor):
    axes.axhline(floor, color=style.MUTED, linestyle=":", linewidth=1.2)
    axes.text(0.005, floor, f"floor {floor:.4g}", transform=axes.get_yaxis_transform(), fontsize=8,
              color=style.MUTED, va="bottom")


def time_axis(axes, lengths_s, first_s, mark_s):
    """Chooses the unit and the kind of axis; returns the unit in seconds."""
    longest_s = max(lengths_s)
    unit_s, unit = style.time_unit(mark_s or longest_s)
    logarithmic = longest_s > LOGARITHMIC_RATIO * min(lengths_s)
    if logarithmic:
        axes.set_xscale("log")
        axes.xaxis.set_major_formatter(style.matplotlib.ticker.FormatStrFormatter("%g"))
        axes.set_xlim(0.85 * first_s / unit_s, 1.1 * longest_s / unit_s)
    else:
        axes.set_xlim(0, 1.02 * longest_s / unit_s)
    axes.set_xlabel(f"simulated time ({unit}{', logarithmic' if logarithmic else ''})")
    return unit_s


def draw(arms):
    """The figure, or the reason why there is none."""
    above = above_floor(arms)
    drawn = [(index, arm, curve_of(arm, above)) for index, arm in enumerate(arms)]
    drawn = [row for row in drawn if row[2] is not None]
    if not drawn:
        return "no arm was trained ([learning] model is none)"

    height_in = max(4.2, 0.9 + 0.58 * len(drawn))
    figure, axes = style.pyplot.subplots(figsize=(9, height_in))
    figure.subplots_adjust(left=0.07, right=0.76, top=1 - 0.84 / height_in, bottom=0.5 / height_in)
    lengths_s = [curve[0][-1] for _, _, curve in drawn]
    mark_s = results.time_mark_s(arms)
    unit_s = time_axis(axes, lengths_s, min(curve[0][0] for _, _, curve in drawn), mark_s)
    draw_spans(axes, arms, unit_s, max(lengths_s))
    draw_curves(axes, drawn, unit_s)
    if mark_s is not None:
        draw_mark(axes, mark_s, unit_s)
    floor = 0.0 if above else drawn[0][1].median("loss", "floor")
    if floor is not None:
        draw_floor(axes, floor)
    axes.set_ylabel("held-out loss above the floor (nats)" if above else "held-out loss (nats)")
    beside(axes, drawn, above)

    proxy = drawn[0][1].runs[0].summary["proxy"]
    style.heading(figure, "Loss against simulated time",
                  f"{results.scenario_name(arms)}; proxy: {proxy['model']}, {proxy['parameters']:,} parameters; "
                  f"{results.seeds_text(arms)}")
    return figure


if __name__ == "__main__":
    sys.exit(results.one_figure(draw, "loss_over_time.png"))
