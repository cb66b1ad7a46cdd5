# plots/style.py: the look that all figures share, so that an arm has one colour in every picture.
"""Colours are Okabe and Ito's eight, which stay apart for colour-blind readers and in grey print.

Figures are 9 inches wide at 110 dots per inch: about 1,000 pixels, well under 200 kB as PNG.
"""
import textwrap

import matplotlib

matplotlib.use("Agg")
import matplotlib.pyplot as pyplot  # noqa: E402  (the backend has to be chosen first)

BLUE, ORANGE, GREEN, RED = "#0072B2", "#E69F00", "#009E73", "#D55E00"
PINK, SKY, YELLOW, BLACK = "#CC79A7", "#56B4E9", "#F0E442", "#000000"
VIOLET, PALE_VIOLET = "#5B3A8C", "#C9B8E4"  # beside the eight: work that no merge has
FAINT, MUTED = "#E6E6E6", "#666666"

# In the order of arms; the pattern tells apart the arms beyond eight.
ARM_COLOURS = (BLUE, RED, GREEN, PINK, ORANGE, SKY, BLACK, "#999933")
ARM_DASHES = ("-", "--", ":", "-.")

matplotlib.rcParams.update({
    "figure.dpi": 110, "savefig.dpi": 110, "font.family": "DejaVu Sans", "font.size": 9,
    "axes.spines.top": False, "axes.spines.right": False, "axes.edgecolor": MUTED,
    "axes.titlelocation": "left", "axes.titlesize": 11, "hatch.linewidth": 0.6,
    "svg.hashsalt": "atoll", "legend.frameon": False,
})


def arm_line(index):
    """Colour and dash of the arm at this place in the order of arms."""
    return {"color": ARM_COLOURS[index % len(ARM_COLOURS)],
            "linestyle": ARM_DASHES[index // len(ARM_COLOURS) % len(ARM_DASHES)]}


def heading(figure, title, beneath):
    """Title, and one smaller line beneath it: the scenario, the mark, the seeds. At the top left."""
    height_in = figure.get_figheight()
    figure.text(0.012, 1 - 0.10 / height_in, title, fontsize=12, fontweight="bold", va="top")
    figure.text(0.012, 1 - 0.34 / height_in, beneath, fontsize=9, color=MUTED, va="top")


def caption(figure, text, width=150):
    """Notes at the bottom left, wrapped."""
    figure.text(0.012, 0.06 / figure.get_figheight(), textwrap.fill(text, width), fontsize=8,
                color=MUTED, va="bottom")


def short(name, width=24):
    """A name on as many lines as it needs."""
    return "\n".join(textwrap.wrap(name, width, break_on_hyphens=False)) or name


def time_unit(longest_s):
    """(seconds in the unit, its name) in which a run of this length is read most easily."""
    for seconds, name in ((86400, "days"), (3600, "h"), (60, "min")):
        if longest_s >= 3 * seconds:
            return seconds, name
    return 1, "s"


def time_text(seconds):
    """A date as people write it: 21600 -> "6 h"."""
    for unit_s, name in ((86400, "d"), (3600, "h"), (60, "min")):
        if seconds >= unit_s and (unit_s < 86400 or seconds >= 3 * unit_s):
            return f"{seconds / unit_s:.3g} {name}"
    return f"{seconds:.3g} s"
