"""Answers to requests about the link: PING, TIMESYNC, and the refusal of file transfers.

Source: MAVLink, Ping Protocol, Time Synchronization Protocol, File Transfer Protocol.
"""

from types import ModuleType

from kittiwake.adapters.mavlink.dialect import Message

# bytes of a request to transfer files: number, session, kind, size, kind of request, and data
NUMBER, SESSION, KIND, SIZE, REQUEST, DATA = slice(0, 2), 2, 3, 4, 5, 12
# kinds without effect where nothing is open, and those of answers
NOTHING, TERMINATE, RESET = 0, 1, 2
ACCEPTED, REFUSED = 128, 129
FILE_NOT_FOUND = 10


def ping_answers(dialect: ModuleType, message: Message) -> list[Message]:
    """Return the answer to a ping of all systems; none to an answer."""
    if message.target_system != 0 or message.target_component != 0:
        return []
    client = message.get_srcSystem(), message.get_srcComponent()
    return [dialect.MAVLink_ping_message(message.time_usec, message.seq, *client)]


def time_answers(dialect: ModuleType, message: Message, time_s: float) -> list[Message]:
    """Return the answer to a question for the time; none to an answer."""
    if message.tc1 != 0:
        return []
    return [dialect.MAVLink_timesync_message(round(1e9 * time_s), message.ts1)]


def file_answers(dialect: ModuleType, message: Message) -> list[Message]:
    """Return the answer to a request to transfer files, of which there are none."""
    given = bytes(message.payload)
    kind = given[KIND]
    if kind in (ACCEPTED, REFUSED):
        return []
    answer = bytearray(len(given))
    following = (int.from_bytes(given[NUMBER], "little") + 1) % 2**16
    answer[NUMBER] = following.to_bytes(2, "little")
    answer[SESSION], answer[REQUEST] = given[SESSION], kind
    if kind in (NOTHING, TERMINATE, RESET):
        answer[KIND] = ACCEPTED
    else:
        answer[KIND], answer[SIZE], answer[DATA] = REFUSED, 1, FILE_NOT_FOUND
    client = message.get_srcSystem(), message.get_srcComponent()
    return [dialect.MAVLink_file_transfer_protocol_message(0, *client, list(answer))]
