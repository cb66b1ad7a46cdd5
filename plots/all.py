#!/usr/bin/python3
# plots/all.py: every figure of one results folder, into its folder plots/.
"""Draws goodput_waterfall.png, loss_over_time.png and wan_traffic.png, and prints each file that it wrote.

A figure that the runs say nothing about (no training, no wide-area link) is left out, with the reason.

    plots/all.py RESULTS_FOLDER      e.g. results/four_regions, as `atoll compare` writes it
"""
import pathlib
import sys

import goodput_waterfall
import loss_over_time
import results
import wan_traffic

FIGURES = (
    (goodput_waterfall.draw, "goodput_waterfall.png"),
    (loss_over_time.draw, "loss_over_time.png"),
    (wan_traffic.draw, "wan_traffic.png"),
)


def draw_all(arms):
    """Every figure by turns, each closed by the next one's start."""
    for draw, file_name in FIGURES:
        print(results.save_or_reason(draw, arms, pathlib.Path(sys.argv[1]) / "plots" / file_name))


def main():
    if len(sys.argv) != 2 or sys.argv[1].startswith("-"):
        print(f"usage: {sys.argv[0]} RESULTS_FOLDER", file=sys.stderr)
        return 2
    try:
        draw_all(results.read(sys.argv[1]))
    except (results.Unreadable, OSError) as trouble:
        print(f"error: {trouble}", file=sys.stderr)
        return 3
    return 0


if __name__ == "__main__":
    sys.exit(main())
