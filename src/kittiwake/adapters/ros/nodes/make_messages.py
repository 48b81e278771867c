"""Makes messages for Python programs of ROS 1 where nobody has built or installed them.

``make_messages FOLDER`` writes uav_gazebo_msgs there, and what Kittiwake takes of gazebo_msgs if
that is not installed; whoever has the folder on PYTHONPATH can import them, also ``rosservice
call`` and ``rostopic pub``.
"""

import logging
import sys
from argparse import ArgumentParser
from pathlib import Path

from kittiwake.adapters.ros.ros1.definitions import is_there, make
from kittiwake.core.errors import KittiwakeError

logger = logging.getLogger(__name__)


def main() -> int:
    """Makes them; returns what the process is to end with."""
    parser = ArgumentParser(
        "make_messages",
        description="Makes uav_gazebo_msgs for Python, and gazebo_msgs unless it is installed.",
    )
    parser.add_argument("folder", type=Path, metavar="FOLDER", help="where they are to be")
    folder: Path = parser.parse_args().folder
    try:
        make("uav_gazebo_msgs", folder)
        # a whole one may be installed, and ours has only what is needed
        if is_there("gazebo_msgs"):
            sys.stderr.write("gazebo_msgs is there already, and was left as it is\n")
        else:
            make("gazebo_msgs", folder)
    except KittiwakeError as error:
        logger.error("%s", error)
        return 1
    sys.stdout.write(f"export PYTHONPATH={folder.resolve()}:$PYTHONPATH\n")
    return 0


if __name__ == "__main__":
    sys.exit(main())
