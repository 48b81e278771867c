"""Bytes between two connections, each way for itself, until both have had their say."""

import asyncio
from contextlib import suppress

# for the other side, when one has ended, from the last byte on
LINGER_S = 10.0
# for one that takes nothing
STALL_S = 60.0
CHUNK = 64 * 1024


class Way:
    """Bytes from one side to the other, no faster than that takes them."""

    def __init__(self, source: asyncio.StreamReader, sink: asyncio.StreamWriter) -> None:
        self._source, self._sink = source, sink
        self.bytes_moved = 0

    async def go(self) -> None:
        """Until the source ends, which the sink is told."""
        while data := await self._source.read(CHUNK):
            self._sink.write(data)
            async with asyncio.timeout(STALL_S):
                await self._sink.drain()
            self.bytes_moved += len(data)
        self._sink.write_eof()


async def relay(*ways: Way) -> None:
    """Until both have ended, or one has and nothing moves on the other any more.

    Raises:
        ConnectionError: if a side broke off.
        TimeoutError: if one takes nothing.
    """
    going = {asyncio.create_task(way.go()) for way in ways}
    try:
        over, left = await asyncio.wait(going, return_when=asyncio.FIRST_COMPLETED)
        while left:
            for task in over:
                task.result()  # what broke ends both
            moved = sum(way.bytes_moved for way in ways)
            over, left = await asyncio.wait(left, timeout=LINGER_S)
            if left and moved == sum(way.bytes_moved for way in ways):
                return
        for task in over:
            task.result()
    finally:
        for task in going:
            task.cancel()
        await asyncio.gather(*going, return_exceptions=True)


async def closed(writer: asyncio.StreamWriter) -> None:
    """Closes once what was written is taken, or nobody takes it."""
    writer.close()
    try:
        with suppress(ConnectionError, TimeoutError):
            async with asyncio.timeout(LINGER_S):
                await writer.wait_closed()
    finally:
        writer.transport.abort()
