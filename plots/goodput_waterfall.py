#!/usr/bin/python3
# plots/goodput_waterfall.py: where the chip-time went, one bar for each arm.
"""Each bar is all chip-time, chips x duration, up to the time mark (without one: to the arm's end), and is
split into what the chips did.

Blue at the left is computing whose tokens are in the global model; everything to its right is time that was
paid for and brought nothing. Computing is split by what became of its tokens: merged; overwritten by a global
version or discarded (dark violet), or in no merge when the run ended (pale violet). Conclude from a bar which
loss to attack first; conclude from two bars what another method would win, on the same failures.

The split is that of the whole run's tokens, which differs from that up to the time mark where a run goes on
to a later mark.

Activities below 0.5 % in every arm are drawn as one piece, named in the caption, so bars still sum to 100 %.
With several seeds a piece is its mean over the seeds (medians would not sum to 100 %); the tick and the line
on the blue piece are the median and the range of merged computing.

    plots/goodput_waterfall.py RESULTS_FOLDER
"""
import statistics
import sys

import results
import style

SMALL_SHARE = 0.005
LABEL_SHARE = 0.025

# In the order drawn: what helps, then waiting inside a step, work lost, reconfiguring, waiting, no chip.
# Families share a colour; a pattern tells their members apart.
LOOKS = {
    "compute": ("computing that was merged", style.BLUE, ""),
    "overwritten": ("computing overwritten by a merge", style.VIOLET, ""),
    "discarded": ("computing discarded", style.VIOLET, "////"),
    "in_flight": ("computing in no merge at the end", style.PALE_VIOLET, ""),
    "waiting_for_slowest": ("waiting for the slowest inside a step", style.ORANGE, "////"),
    "exposed_communication": ("waiting for the network inside a step", style.ORANGE, ""),
    "rolled_back": ("work rolled back", style.RED, ""),
    "interrupted_step": ("step cut off by a failure", style.RED, "////"),
    "unfinished_step": ("step unfinished at the mark", style.RED, "...."),
    "starting": ("starting", style.PINK, "...."),
    "detecting": ("detecting a failure", style.PINK, "xxxx"),
    "downscaling": ("downscaling", style.PINK, ""),
    "upscaling": ("upscaling", style.PINK, "////"),
    "restarting": ("restarting", style.PINK, "\\\\\\\\"),
    "loading_checkpoint": ("loading a checkpoint", style.GREEN, "////"),
    "saving_checkpoint": ("saving a checkpoint", style.GREEN, "...."),
    "copying_state": ("fetching state from a peer", style.GREEN, ""),
    "waiting_for_repair": ("idle until a repair ends", style.YELLOW, ""),
    "waiting_for_merge": ("waiting for a merge", style.YELLOW, "////"),
    "waiting_for_network": ("waiting for a link to return", style.YELLOW, "...."),
    "waiting_to_join": ("healthy, waiting to join", style.SKY, ""),
    "finished": ("finished before the mark", style.FAINT, "...."),
    "failed": ("chips failed", "#555555", ""),
    "unused": ("chips not used by the arm", style.FAINT, ""),
}
OTHERS = ("others", "#FFFFFF", "")


def shares_of(run):
    """{activity: share of chip-time}, with computing split by what became of its tokens; they sum to 1."""
    shares, tokens = run.activity_shares(), run.token_shares()
    computing = shares["compute"]
    return shares | {"compute": computing * tokens["merged"]} | {
        name: computing * share for name, share in tokens.items() if name != "merged"}


def mean_shares(arm):
    """{activity: mean over seeds of its share}; they sum to 1."""
    by_run = [shares_of(run) for run in arm.runs]
    return {name: statistics.fmean(shares[name] for shares in by_run) for name in by_run[0]}


def pieces_of(shares_by_arm):
    """(large, small) activities in drawing order; an activity that never occurs is in neither."""
    known = list(LOOKS) + sorted(set(shares_by_arm[0]) - set(LOOKS))
    most = {name: max(shares.get(name, 0.0) for shares in shares_by_arm) for name in known}
    large = [name for name in known if most[name] >= SMALL_SHARE]
    small = [name for name in known if 0 < most[name] < SMALL_SHARE]
    if len(small) == 1:
        return [name for name in known if most[name] > 0], []
    return large, small


def look_of(name):
    return LOOKS.get(name, (name.replace("_", " "), style.MUTED, "++++"))


def label_of(name, share):
    """The number, with the name before it where the piece is wide enough for both."""
    number = f"{100 * share:.1f}"
    return f"{name} {number} %" if share * 7.0 > 0.075 * (len(name) + 7) else number


def draw_bar(axes, row, pieces):
    """One arm: pieces are (share, name, colour, pattern), from the left."""
    left = 0.0
    for share, name, colour, pattern in pieces:
        width = 100 * share
        axes.barh(row, width, left=left, height=0.62, color=colour, hatch=pattern,
                  edgecolor="white" if pattern else style.MUTED, linewidth=0.4)
        if share >= LABEL_SHARE:
            dark = colour in (style.BLUE, style.RED, style.GREEN, style.VIOLET, "#555555")
            box = {"facecolor": colour, "edgecolor": "none", "pad": 0.8} if pattern else None
            axes.text(left + width / 2, row, label_of(name, share), ha="center", va="center", fontsize=8.5,
                      color="white" if dark else "black", bbox=box)
        left += width


def draw_range(axes, row, arm):
    """Median and range over the seeds of computing that was merged."""
    computing = [100 * shares_of(run)["compute"] for run in arm.runs]
    low, middle, high = min(computing), statistics.median(computing), max(computing)
    axes.plot([low, high], [row + 0.38] * 2, color="black", linewidth=1.2, clip_on=False)
    axes.plot([middle], [row + 0.38], marker="|", color="black", markersize=7, clip_on=False)


def draw(arms):
    """The figure."""
    shares_by_arm = [mean_shares(arm) for arm in arms]
    large, small = pieces_of(shares_by_arm)
    several = max(len(arm.runs) for arm in arms) > 1
    looks = [look_of(name) for name in large] + ([(f"others ({len(small)})",) + OTHERS[1:]] if small else [])

    legend_rows = -(-len(looks) // 3)
    top_in, bottom_in = 0.62, 0.62 + 0.19 * legend_rows + 0.2 * bool(small or several)
    height_in = top_in + 0.52 * len(arms) + bottom_in
    figure, axes = style.pyplot.subplots(figsize=(9, height_in))
    figure.subplots_adjust(left=0.20, right=0.975, top=1 - top_in / height_in, bottom=bottom_in / height_in)

    for row, (arm, shares) in enumerate(zip(arms, shares_by_arm)):
        values = [shares[name] for name in large] + ([sum(shares[name] for name in small)] if small else [])
        draw_bar(axes, row, [(value,) + look for value, look in zip(values, looks)])
        if len(arm.runs) > 1:
            draw_range(axes, row, arm)

    axes.set_yticks(range(len(arms)), [style.short(arm.name) for arm in arms])
    axes.tick_params(axis="y", length=0)
    axes.set_ylim(len(arms) - 0.45, -0.5)
    axes.set_xlim(0, 100)
    axes.set_xlabel("percent of chip-time (chips × duration)")
    patches = [style.pyplot.Rectangle((0, 0), 1, 1, facecolor=colour, hatch=pattern, linewidth=0.4,
                                      edgecolor="white" if pattern else style.MUTED)
               for _, colour, pattern in looks]
    figure.legend(patches, [look[0] for look in looks], loc="lower left", ncol=3, fontsize=8.5,
                  bbox_to_anchor=(0.005, (0.08 + 0.2 * bool(small or several)) / height_in),
                  columnspacing=1.6, handlelength=1.6)

    untils_s = {run.summary["accounted_until_s"] for arm in arms for run in arm.runs}
    until = f"first {style.time_text(min(untils_s))}" if len(untils_s) == 1 else "each arm to its own end"
    chips = arms[0].runs[0].summary["chips"]
    style.heading(figure, "Where the chip-time went", f"{results.scenario_name(arms)}: {chips:,} chips, "
                  f"{until}; {results.seeds_text(arms)}")
    notes = []
    if several:
        notes.append("Pieces: mean over seeds. Line and tick below a bar: range and median of computing that was merged.")
    if small:
        notes.append(f"Others, each below {100 * SMALL_SHARE:g} % in every arm: " + ", ".join(look_of(name)[0] for name in small) + ".")
    style.caption(figure, " ".join(notes))
    return figure


if __name__ == "__main__":
    sys.exit(results.one_figure(draw, "goodput_waterfall.png"))
