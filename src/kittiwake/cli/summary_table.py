"""A run's summary as a table for people."""

from typing import Any

from rich.table import Table

MAX_ROWS = 20
MAX_EVENTS = 10


def vehicle_table(summary: dict[str, Any]) -> Table:
    """A row for each vehicle, the first twenty of them."""
    vehicles = summary["vehicles"]
    table = Table(title=summary["scenario"], title_justify="left", title_style="bold")
    for heading in ("vehicle", "model", "final position (m)"):
        table.add_column(heading)
    for heading in ("speed (m/s)", "distance (m)", "max tilt (rad)", "tracking RMS (m)", "valid"):
        table.add_column(heading, justify="right")
    for name, vehicle in list(vehicles.items())[:MAX_ROWS]:
        position = vehicle["final_position_m"] or []
        table.add_row(
            name,
            vehicle["model"],
            ", ".join(f"{x:.2f}" for x in position) or "-",
            *(
                _number(vehicle[key])
                for key in ("final_speed_mps", "distance_m", "max_tilt_rad", "tracking_rms_m")
            ),
            "yes" if vehicle["valid"] else "no",
        )
    if len(vehicles) > MAX_ROWS:
        table.caption = f"and {len(vehicles) - MAX_ROWS} more in summary.json"
    return table


def summary_lines(summary: dict[str, Any]) -> list[str]:
    """How it ended, how fast it was, and what happened."""
    ended = summary["status"] + (f": {summary['reason']}" if summary["reason"] else "")
    separation = summary["min_separation_m"]
    lines = [
        f"{ended}. {summary['duration_s']:g} s simulated in {summary['wall_s']:.2f} s "
        f"({_number(summary['realtime_factor'])} times real time), "
        f"after {summary['compile_s']:.1f} s of compiling. Seed {summary['seed']}."
    ]
    if separation is not None:
        lines.append(f"Smallest distance between two vehicles: {separation:.2f} m.")
    events = summary["events"]
    lines += [f"{e['time_s']:8.2f} s  {e['vehicle']}: {e['event']}" for e in events[:MAX_EVENTS]]
    if len(events) > MAX_EVENTS:
        lines.append(f"and {len(events) - MAX_EVENTS} more events in summary.json")
    return lines


def _number(value: float | None) -> str:
    return "-" if value is None else f"{value:.3g}"
