"""Terminal table and lines of a run's summary."""

from rich import box
from rich.table import Table

from kittiwake.analysis.summary import VEHICLE_TITLES, in_digits, vehicle_rows
from kittiwake.cli.metrics import Metrics
from kittiwake.core.units import UNIT_SYMBOLS

MAX_ROWS = 20
MAX_EVENTS = 10


def vehicle_table(summary: Metrics) -> Table:
    """Return a table with a row for each of the first twenty vehicles."""
    rows = vehicle_rows(summary)
    table = Table(
        title=summary["scenario"],
        title_justify="left",
        title_style="bold",
        box=box.SIMPLE_HEAD,
        collapse_padding=True,
        pad_edge=False,
    )
    first, *others = VEHICLE_TITLES
    table.add_column(first, no_wrap=True)
    for heading in others:
        table.add_column(heading, justify="right", no_wrap=True)
    for row in rows[:MAX_ROWS]:
        table.add_row(*row)
    if len(rows) > MAX_ROWS:
        table.caption = f"and {len(rows) - MAX_ROWS} more in summary.json"
    return table


def summary_lines(summary: Metrics) -> list[str]:
    """Return lines about the end, the speed, the metrics and the events of a run."""
    ended = summary["status"] + (f": {summary['reason']}" if summary["reason"] else "")
    separation = summary["min_separation_m"]
    factor = summary["realtime_factor"]
    ratio = f", {factor:,.0f} times real time" if factor else ""
    lines = [
        f"{ended}. {summary['duration_s']:g} s in {summary['wall_s']:.2f} s{ratio}; "
        f"compiling took {summary['compile_s']:.1f} s. Seed {summary['seed']}."
    ]
    if separation is not None:
        lines.append(f"Smallest distance between two vehicles: {separation:.2f} m.")
    lines += _task_lines(summary["metrics"].get("task", {}))
    lines += _waypoint_lines(summary["metrics"].get("waypoints", {}))
    lines += _flock_lines(summary["metrics"].get("flock", {}))
    lines += _estimate_lines(summary["metrics"].get("estimate", {}))
    lines += _real_time_lines(summary["metrics"].get("real_time"))
    lines += _invalid_lines(summary["metrics"].get("sensors", {}))
    lines += _warning_lines(summary["metrics"].get("warnings", []))
    events = summary["events"]
    lines += [f"{e['time_s']:8.2f} s  {e['vehicle']}: {e['event']}" for e in events[:MAX_EVENTS]]
    if len(events) > MAX_EVENTS:
        lines.append(f"and {len(events) - MAX_EVENTS} more events in summary.json")
    return lines


def _real_time_lines(deadlines: Metrics | None) -> list[str]:
    """Return a line with the missed deadlines and the jitter of a flight in real time."""
    if not deadlines:
        return []
    return [
        f"Real time: {deadlines['missed_deadlines']} of {deadlines['deadlines']} deadlines missed; "
        f"jitter {_number(deadlines['jitter_p99_ms'])} ms (99th percentile)."
    ]


def _invalid_lines(sensors: Metrics) -> list[str]:
    """Return lines with the sensors that had samples without a fix, an echo or a detection."""
    lines = [
        f"{name}: samples without a fix, an echo or a detection: {', '.join(found)}."
        for name, own in sensors.items()
        if (
            found := [
                f"{sensor} {gaps['invalid_share']:.0%}"
                for sensor, gaps in own.items()
                if gaps["invalid_share"]
            ]
        )
    ]
    rest = len(lines) - MAX_EVENTS
    return [*lines[:MAX_EVENTS], *([f"and {rest} more vehicles with such"] if rest > 0 else [])]


def _warning_lines(warnings: list[str]) -> list[str]:
    lines = [f"Warning: {text}." for text in warnings[:MAX_EVENTS]]
    rest = len(warnings) - MAX_EVENTS
    return [*lines, *([f"and {rest} more warnings in summary.json"] if rest > 0 else [])]


def _task_lines(task: Metrics) -> list[str]:
    """Return a line with the return and the metrics of a task, with units."""
    if not task:
        return []
    if "reason" in task:
        return [f"Task {task['name']}: no return: {task['reason']}."]
    metrics = [in_words(name, task[name]) for name in task if name not in ("name", "return")]
    more = "".join(f"; {metric}" for metric in metrics)
    return [f"Task {task['name']}: return {_number(task['return'])}{more}."]


def in_words(name: str, value: float | None) -> str:
    """Return a metric in words: ("closest_approach_m", 1.5) is "closest approach 1.5 m"."""
    *words, ending = name.split("_")
    unit = UNIT_SYMBOLS.get(ending, "") if words else ""
    label = " ".join(words) if unit else name.replace("_", " ")
    is_count = not unit and value is not None and float(value).is_integer()
    return f"{label} {f'{value:g}' if is_count else _number(value)} {unit}".rstrip()


def _waypoint_lines(waypoints: Metrics) -> list[str]:
    """Return lines about the vehicles that did not reach all waypoints."""
    missed = [
        f"{name} reached {legs['reached']} of {legs['planned']} waypoints."
        for name, legs in waypoints.items()
        if legs["reached"] < legs["planned"]
    ]
    rest = len(missed) - MAX_EVENTS
    return [*missed[:MAX_EVENTS], *([f"and {rest} more vehicles did not"] if rest > 0 else [])]


def _flock_lines(teams: Metrics) -> list[str]:
    """Return a line with the flocking metrics of each team."""
    return [
        _flock_line(name, metrics)
        for name, metrics in teams.items()
        if "order_parameter" in metrics
    ]


def _flock_line(name: str, metrics: Metrics) -> str:
    parts = [
        f"radius {_number(metrics['cohesion_radius_m'])} m at the end",
        f"minimum separation {_number(metrics['min_separation_m'])} m",
        f"order parameter {_number(metrics['order_parameter'])}",
        f"minimum connectivity {_number(metrics['connectivity'])}",
    ]
    if "target_offset_m" in metrics:
        time_s = metrics["time_to_target_s"]
        parts.append(f"center {_number(metrics['target_offset_m'])} m from its target")
        parts.append("not reached" if time_s is None else f"reached at {_number(time_s)} s")
    return f"Team {name} of {metrics['members']}: {', '.join(parts)}."


def _estimate_lines(estimates: Metrics) -> list[str]:
    """Return lines with the position errors of the estimates."""
    lines = [
        f"Position error of the estimate of {name}: {_number(errors['position_rms_m'])} m (RMS), "
        f"{_number(errors['position_max_m'])} m at most{_consistency(errors)}."
        for name, errors in estimates.items()
    ]
    rest = len(lines) - MAX_EVENTS
    return [
        *lines[:MAX_EVENTS],
        *([f"and {rest} more estimates in summary.json"] if rest > 0 else []),
    ]


def _consistency(errors: Metrics) -> str:
    mean, inside = errors["nees_mean"], errors["nees_inside"]
    if mean is None:
        return ""
    return (
        f"; mean NEES {_number(mean)} (expected {errors['nees_errors']}), {inside:.0%} inside 95 %"
    )


def _number(value: float | None) -> str:
    return "-" if value is None else in_digits(value)
