import pytest

from kittiwake.adapters.hub.frames import LENGTH, MAX_FRAME, FrameReader, FrameTooLongError, framed


def all_of(reader):
    found = []
    while (frame := reader.next()) is not None:
        found.append(frame)
    return found


def test_frames_come_out_as_they_went_in_however_the_stream_is_cut():
    packets = [bytes([n % 256]) * n for n in (0, 1, 5, 300, MAX_FRAME)]
    stream = b"".join(map(framed, packets))
    for size in (1, 3, 7, 1000, len(stream)):
        reader, found = FrameReader(), []
        for begin in range(0, len(stream), size):
            reader.feed(stream[begin : begin + size])
            found += all_of(reader)
        assert found == packets
        assert not reader.inside


def test_a_length_that_is_too_large_is_refused_before_anything_is_kept():
    for length in (MAX_FRAME + 1, 2**31, 2**32 - 1):
        reader = FrameReader()
        reader.feed(LENGTH.pack(length) + b"abc")
        with pytest.raises(FrameTooLongError, match=str(length)):
            reader.next()
        assert not reader.inside


def test_a_begun_frame_is_noticed():
    reader = FrameReader()
    reader.feed(framed(b"abc")[:-1])
    assert reader.next() is None
    assert reader.inside
