import pytest

from kittiwake.adapters.hub.frames import (
    LENGTH,
    MAX_FRAME,
    FrameReader,
    FrameTooLongError,
    to_frame,
)


def all_of(reader):
    found = []
    while (frame := reader.next()) is not None:
        found.append(frame)
    return found


def test_frames_survive_any_split_of_the_stream():
    packets = [bytes([n % 256]) * n for n in (0, 1, 5, 300, MAX_FRAME)]
    stream = b"".join(map(to_frame, packets))
    for size in (1, 3, 7, 1000, len(stream)):
        reader, found = FrameReader(), []
        for begin in range(0, len(stream), size):
            reader.feed(stream[begin : begin + size])
            found += all_of(reader)
        assert found == packets
        assert not reader.has_partial_frame


def test_too_large_length_is_refused_without_buffering():
    for length in (MAX_FRAME + 1, 2**31, 2**32 - 1):
        reader = FrameReader()
        reader.feed(LENGTH.pack(length) + b"abc")
        with pytest.raises(FrameTooLongError, match=str(length)):
            reader.next()
        assert not reader.has_partial_frame


def test_partial_frame_is_reported():
    reader = FrameReader()
    reader.feed(to_frame(b"abc")[:-1])
    assert reader.next() is None
    assert reader.has_partial_frame
