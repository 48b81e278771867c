"""The thread in which everything is drawn, and the graphics library that is bound to it."""

import atexit
import os
from collections.abc import Callable
from concurrent.futures import Future
from functools import cache
from queue import SimpleQueue
from threading import Thread
from typing import Any

from kittiwake.core.errors import MissingExtraError
from kittiwake.core.extras import optional
from kittiwake.physics.mujoco_model import MUJOCO

EXTRA = "camera"
MISSING_GL = (
    "cameras and films draw with OpenGL without a screen, and that cannot be begun here ({error}). "
    "On Debian and Ubuntu scripts/render-setup installs it (libegl1 and libgl1-mesa-dri); a marker "
    "with rendered: false needs none"
)


def draw(work: Callable[[], Any]) -> Any:
    """What the work gives or raises, done in the thread that draws."""
    return draw_later(work).result()


def draw_later(work: Callable[[], Any]) -> "Future[Any]":
    """The same, without waiting."""
    return _render_thread().begin(work)


def begin_graphics(at_end: Callable[[], object], extra: str = EXTRA) -> None:
    """Loads the graphics library, once; ``at_end`` gives back what was drawn with it.

    Raises:
        MissingExtraError: if it cannot be loaded here; the message names the extra.
    """
    draw(lambda: _begin(extra))
    _AT_END.setdefault(at_end)


class _RenderThread:
    """Does one thing after another."""

    def __init__(self) -> None:
        self.waiting: SimpleQueue[tuple[Callable[[], Any], Future[Any]]] = SimpleQueue()
        Thread(target=self._work, name="renderer", daemon=True).start()

    def begin(self, work: Callable[[], Any]) -> "Future[Any]":
        """What the work will give."""
        done: Future[Any] = Future()
        self.waiting.put((work, done))
        return done

    def _work(self) -> None:
        while True:
            work, done = self.waiting.get()
            try:
                done.set_result(work())
            except BaseException as error:  # whoever waits for it is told
                done.set_exception(error)


@cache
def _render_thread() -> _RenderThread:
    return _RenderThread()


# what gives back, in the order in which they began to draw
_AT_END: dict[Callable[[], object], None] = {}


def _begin(extra: str) -> None:
    # MuJoCo itself reads there with which library it is to draw
    os.environ.setdefault("MUJOCO_GL", "egl")
    try:
        # which asks for that library at once, if the environment names it
        optional(MUJOCO, extra)
        _context()
    except (ImportError, AttributeError, RuntimeError, OSError) as error:
        raise MissingExtraError(MISSING_GL.format(error=str(error).split("\n")[0])) from None


@cache
def _context() -> Any:
    """The graphics library's context, bound to the thread that calls this."""
    kind = os.environ["MUJOCO_GL"]
    library = optional(f"mujoco.{'osmesa' if kind == 'osmesa' else 'egl'}", EXTRA)
    context = library.GLContext(1, 1)
    context.make_current()
    # before the library is told that the process ends
    atexit.register(lambda: draw(lambda: _end(context)))
    return context


def _end(context: Any) -> None:
    for at_end in _AT_END:
        at_end()
    context.free()
