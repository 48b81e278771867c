"""How a program becomes a node, and how it ends."""

import logging
import signal
import sys
from argparse import ArgumentParser, Namespace
from collections.abc import Callable

from kittiwake.adapters.ros.ros1.node import Ros1Node
from kittiwake.core.errors import KittiwakeError

logger = logging.getLogger(__name__)

FAILED = 1


def run(parser: ArgumentParser, work: Callable[[Ros1Node, Namespace], None]) -> int:
    """Joins ROS under the parser's name and works until it is done or interrupted.

    Args:
        parser: of the program's own arguments; those with ":=" are ROS's.
        work: what to do.

    Returns:
        What the process is to end with.
    """
    options = parser.parse_args([word for word in sys.argv[1:] if ":=" not in word])
    # a node that is killed would stay in the master's lists
    signal.signal(signal.SIGTERM, signal.default_int_handler)
    try:
        node = Ros1Node(parser.prog)
        try:
            work(node, options)
        finally:
            node.close()
    except KittiwakeError as error:
        logger.error("%s", error)
        return FAILED
    except KeyboardInterrupt:
        pass
    return 0
