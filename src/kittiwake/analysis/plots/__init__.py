"""Pictures of runs: pages of a few kinds of panels, in the style of a report or of a paper."""

from kittiwake.analysis.plots.overview import draw_overview, save_overview

__all__ = ["draw_overview", "save_overview"]
