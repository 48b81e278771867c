"""Entry point of programs that run as ROS 1 nodes."""

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
    """Run a function in a node with the parser's name, until it returns or is interrupted.

    Args:
        parser: of the program's own arguments; arguments with ":=" are remappings of ROS.
        work: receives the node and the parsed arguments.

    Returns:
        The exit status of the process.
    """
    options = parser.parse_args([word for word in sys.argv[1:] if ":=" not in word])
    # a node that is killed would stay registered at the master
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
