"""Where rospy's words go: to its log file, what matters to the terminal, and nowhere else."""

import logging
import os
from collections.abc import Generator
from contextlib import contextmanager
from pathlib import Path

CONFIGURATION = Path(__file__).with_suffix(".yaml")
CONFIGURED_BY = "ROS_PYTHON_LOG_CONFIG_FILE"
# rospy's own words, and those that its node says
LOGGERS = ("rospy", "rosout")


@contextmanager
def keep_to_itself() -> Generator[None]:
    """While a node starts within it, rospy leaves the root logger and other loggers alone."""
    before = os.environ.get(CONFIGURED_BY)
    os.environ[CONFIGURED_BY] = str(CONFIGURATION)
    for name in LOGGERS:
        logging.getLogger(name).propagate = False
    try:
        yield
    finally:
        os.environ.pop(CONFIGURED_BY)
        if before is not None:
            os.environ[CONFIGURED_BY] = before
    _write_down()


def _write_down() -> None:
    # rospy has named its file; it does not where it could not make the folder
    file = os.environ.get("ROS_LOG_FILENAME")
    log = logging.FileHandler(file, delay=True) if file else logging.NullHandler()
    log.setFormatter(logging.Formatter("[%(name)s][%(levelname)s] %(asctime)s: %(message)s"))
    for name in LOGGERS:
        logging.getLogger(name).addHandler(log)
        logging.getLogger(name).setLevel(logging.INFO)
    terminal = logging.StreamHandler()
    terminal.setLevel(logging.WARNING)
    terminal.setFormatter(logging.Formatter("%(levelname)s: %(message)s"))
    logging.getLogger("rosout").addHandler(terminal)
