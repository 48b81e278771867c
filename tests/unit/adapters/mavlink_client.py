"""Client of MAVLink on the link of a server, without a network."""

from pymavlink.dialects.v20 import common

from kittiwake.adapters.mavlink.link import MavlinkLink

SENDER = ("127.0.0.1", 14550)
SYSTEM, COMPONENT = 255, 190


def received(message, system=SYSTEM, component=COMPONENT):
    """Return a message as it arrives from a system."""
    packet = message.pack(common.MAVLink(None, srcSystem=system, srcComponent=component))
    (decoded,) = common.MAVLink(None).parse_buffer(packet)
    return decoded


class RecordedLink(MavlinkLink):
    """Link that keeps what is sent, as its clients receive it."""

    def __init__(self):
        self.dialect = common
        self.sent = []

    def send(self, system, messages, to=None):
        del to
        self.sent += [received(message, system, 1) for message in messages]

    def receive(self, timeout_s):
        raise NotImplementedError

    def close(self):
        pass

    def take(self, kind=None):
        """Return what was sent since the last call, of one kind or all."""
        taken, self.sent = self.sent, []
        return [one for one in taken if kind is None or one.get_type() == kind]
