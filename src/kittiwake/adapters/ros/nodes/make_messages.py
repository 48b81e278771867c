"""Generator of message classes for Python programs of ROS 1, without a catkin workspace.

``make_messages FOLDER`` writes uav_gazebo_msgs to a folder, and the part of gazebo_msgs that
Kittiwake uses unless gazebo_msgs is installed. With the folder on PYTHONPATH, programs can import
them, and so can ``rosservice call`` and ``rostopic pub``.
"""

import logging
import sys
from argparse import ArgumentParser
from pathlib import Path

from kittiwake.adapters.ros.ros1.definitions import generate, is_installed
from kittiwake.core.errors import KittiwakeError

logger = logging.getLogger(__name__)


def main() -> int:
    """Generate the packages; return the exit status of the process."""
    parser = ArgumentParser(
        "make_messages",
        description="Generate uav_gazebo_msgs for Python, and gazebo_msgs unless it is installed.",
    )
    parser.add_argument("folder", type=Path, metavar="FOLDER", help="where they are written")
    folder: Path = parser.parse_args().folder
    try:
        generate("uav_gazebo_msgs", folder)
        # an installed package is complete; ours has only the types that Kittiwake uses
        if is_installed("gazebo_msgs"):
            sys.stderr.write("gazebo_msgs is already installed and was not generated\n")
        else:
            generate("gazebo_msgs", folder)
    except KittiwakeError as error:
        logger.error("%s", error)
        return 1
    sys.stdout.write(f"export PYTHONPATH={folder.resolve()}:$PYTHONPATH\n")
    return 0


if __name__ == "__main__":
    sys.exit(main())
