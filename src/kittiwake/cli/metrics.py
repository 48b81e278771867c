"""Metrics of flights and benchmarks."""

from typing import Any, TypeAlias

# numbers, texts and nested metrics by name, as in JSON
Metrics: TypeAlias = dict[str, Any]
