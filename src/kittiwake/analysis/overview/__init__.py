"""Overview picture of a run: paths, time series, events and metrics on one page."""

from kittiwake.analysis.overview.picture import draw_overview, save_overview

__all__ = ["draw_overview", "save_overview"]
