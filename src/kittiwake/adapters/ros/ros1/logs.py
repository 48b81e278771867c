"""Logging of rospy: to its log file, and warnings of the node to the terminal."""

import logging
import os
from collections.abc import Generator
from contextlib import contextmanager
from pathlib import Path

CONFIGURATION = Path(__file__).with_suffix(".yaml")
CONFIGURATION_VARIABLE = "ROS_PYTHON_LOG_CONFIG_FILE"
# the logger of rospy itself, and that of the node
LOGGERS = ("rospy", "rosout")


@contextmanager
def isolated_logging() -> Generator[None]:
    """Keep rospy from configuring other loggers while a node starts in this context."""
    before = os.environ.get(CONFIGURATION_VARIABLE)
    os.environ[CONFIGURATION_VARIABLE] = str(CONFIGURATION)
    for name in LOGGERS:
        logging.getLogger(name).propagate = False
    try:
        yield
    finally:
        os.environ.pop(CONFIGURATION_VARIABLE)
        if before is not None:
            os.environ[CONFIGURATION_VARIABLE] = before
    _add_handlers()


def _add_handlers() -> None:
    # rospy sets the name of its log file unless it could not create the folder
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
