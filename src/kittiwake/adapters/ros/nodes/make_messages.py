"""Makes uav_gazebo_msgs for Python programs of ROS 1 where it has not been built by catkin.

``make_messages FOLDER`` writes it there; whoever has the folder on PYTHONPATH can import it, also
``rosservice call`` and ``rostopic pub``.
"""

import logging
import sys
from argparse import ArgumentParser
from pathlib import Path

from kittiwake.adapters.ros.ros1.definitions import make
from kittiwake.core.errors import KittiwakeError

logger = logging.getLogger(__name__)


def main() -> int:
    """Makes it; returns what the process is to end with."""
    parser = ArgumentParser("make_messages", description="Makes uav_gazebo_msgs for Python.")
    parser.add_argument("folder", type=Path, metavar="FOLDER", help="where it is to be")
    folder: Path = parser.parse_args().folder
    try:
        make("uav_gazebo_msgs", folder)
    except KittiwakeError as error:
        logger.error("%s", error)
        return 1
    sys.stdout.write(f"export PYTHONPATH={folder.resolve()}:$PYTHONPATH\n")
    return 0


if __name__ == "__main__":
    sys.exit(main())
