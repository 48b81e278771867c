"""Description of a log for notebooks."""

from kittiwake.analysis.log import Log
from kittiwake.analysis.summary import VEHICLE_TITLES, vehicle_rows
from kittiwake.core.html import column_table, fact_table, heading


def log_html(log: Log) -> str:
    """Return the end of a run and the results of its vehicles."""
    summary = log.summary or {}
    name = summary.get("scenario") or log.scenario.get("name") or ""
    facts = {
        "status": summary.get("status") or ("" if log.complete else "cut off"),
        "early end": log.early_end,
        "duration": f"{log.end_s or 0.0:g} s",
        "seed": summary.get("seed"),
        "rows": f"{max((len(table.values) for table in log.tables.values()), default=0):,}",
        "events": f"{len(log.events):,}",
    }
    return heading("Log", str(name)) + fact_table(facts) + _vehicles(log)


def _vehicles(log: Log) -> str:
    if log.summary and log.summary.get("vehicles"):
        return column_table(VEHICLE_TITLES, vehicle_rows(log.summary))
    rows = [(name, f"{len(table.values):,}") for name, table in log.tables.items()]
    return column_table(("vehicle", "rows"), rows)
