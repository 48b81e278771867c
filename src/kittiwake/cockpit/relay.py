"""Bidirectional TCP relay."""

import asyncio
from contextlib import suppress

# idle time after which the second direction is closed when the first has ended
LINGER_S = 10.0
# time limit for a peer that does not read
STALL_S = 60.0
CHUNK = 64 * 1024


class Pipe:
    """One direction of a relay, with back pressure."""

    def __init__(self, source: asyncio.StreamReader, sink: asyncio.StreamWriter) -> None:
        self._source, self._sink = source, sink
        self.bytes_moved = 0

    async def run(self) -> None:
        """Copy bytes until the source ends, then end the sink."""
        while data := await self._source.read(CHUNK):
            self._sink.write(data)
            async with asyncio.timeout(STALL_S):
                await self._sink.drain()
            self.bytes_moved += len(data)
        self._sink.write_eof()


async def relay(*pipes: Pipe) -> None:
    """Copy until all directions have ended, or one has ended and the others are idle.

    Raises:
        ConnectionError: if a peer disconnects.
        TimeoutError: if a peer does not read.
    """
    tasks = {asyncio.create_task(pipe.run()) for pipe in pipes}
    try:
        done, pending = await asyncio.wait(tasks, return_when=asyncio.FIRST_COMPLETED)
        while pending:
            for task in done:
                task.result()  # an error ends all directions
            moved = sum(pipe.bytes_moved for pipe in pipes)
            done, pending = await asyncio.wait(pending, timeout=LINGER_S)
            if pending and moved == sum(pipe.bytes_moved for pipe in pipes):
                return
        for task in done:
            task.result()
    finally:
        for task in tasks:
            task.cancel()
        await asyncio.gather(*tasks, return_exceptions=True)


async def close_writer(writer: asyncio.StreamWriter) -> None:
    """Close a writer when its data is flushed, or after a time limit."""
    writer.close()
    try:
        with suppress(ConnectionError, TimeoutError):
            async with asyncio.timeout(LINGER_S):
                await writer.wait_closed()
    finally:
        writer.transport.abort()
