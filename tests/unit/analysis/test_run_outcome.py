"""Outcome of a run in words."""

import pytest

from kittiwake.analysis.run_outcome import LEFT, outcome_text


@pytest.mark.parametrize(
    ("summary", "text"),
    [
        ({"status": "completed", "reason": None}, "completed"),
        ({"status": "failed", "reason": "gull lost: z_m"}, "failed: gull lost: z_m"),
        ({"status": "diverged", "reason": "gull: diverged: x_m"}, "gull: diverged: x_m"),
        # who leaves a flight has not failed
        ({"status": "failed", "reason": f"{LEFT} at 3.2 s"}, f"{LEFT} at 3.2 s"),
        ({"status": 3, "reason": ["x"]}, "3: ['x']"),
        ({}, ""),
    ],
)
def test_outcome_is_status_and_reason(summary, text):
    assert outcome_text(summary) == text
