"""Logs that other programs recorded in flight, read as signals under Kittiwake's column names."""

from kittiwake.analysis.flight_logs.flight_log import FlightLog, Signal
from kittiwake.analysis.flight_logs.reading import read_flight_log

__all__ = ["FlightLog", "Signal", "read_flight_log"]
