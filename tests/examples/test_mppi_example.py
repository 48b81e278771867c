"""The example that plans by samples runs, and says what it flew."""

import re
import subprocess
import sys
from os import environ
from pathlib import Path

import pytest

ROOT = Path(__file__).parents[2]


@pytest.mark.slow
def test_few_samples_fly_the_hallway_and_draw_it(tmp_path):
    example = str(ROOT / "examples" / "learning" / "mppi.py")
    answer = subprocess.run(
        [sys.executable, "-W", "error", example, "--samples", "256", "--out", str(tmp_path)],
        env=environ | {"PYTHONPATH": str(ROOT / "src")},
        capture_output=True,
        text=True,
        check=False,
        timeout=300,
    )
    assert answer.returncode == 0, answer.stderr
    assert re.search(r"24\.\d m in \d+\.\d s, contact: False", answer.stdout), answer.stdout
    assert re.search(r"mean \S+ ms, 99th percentile \S+ ms", answer.stdout)
    assert (tmp_path / "path.png").read_bytes().startswith(b"\x89PNG")
