"""Render thread, to which the OpenGL context is bound."""

import atexit
import os
from collections.abc import Callable
from concurrent.futures import Future
from functools import cache
from queue import SimpleQueue
from threading import Thread
from typing import Any

from typing_extensions import TypeVar

from kittiwake.core.errors import MissingExtraError
from kittiwake.core.extras import import_optional
from kittiwake.physics.mujoco_model import MUJOCO, MujocoObject

Result = TypeVar("Result")

EXTRA = "camera"
MISSING_GL = (
    "Cameras and films require offscreen OpenGL, which cannot be started here ({error}). On Debian "
    "and Ubuntu scripts/render-setup installs it (libegl1 and libgl1-mesa-dri); a marker sensor "
    "with `rendered: false` does not require it"
)


def draw(work: Callable[[], Result]) -> Result:
    """Call a function in the render thread, and return its result."""
    return draw_later(work).result()


def draw_later(work: Callable[[], Result]) -> "Future[Result]":
    """Call a function in the render thread, and return a future of its result."""
    return _render_thread().submit(work)


def start_graphics(at_end: Callable[[], object], extra: str = EXTRA) -> None:
    """Load the graphics library once; ``at_end`` frees resources at the end of the process.

    Raises:
        MissingExtraError: if it cannot be loaded; the message names the extra.
    """
    draw(lambda: _start(extra))
    _AT_END.setdefault(at_end)


class _RenderThread:
    """Thread that calls functions one after another."""

    def __init__(self) -> None:
        self.queue: SimpleQueue[tuple[Callable[[], Any], Future[Any]]] = SimpleQueue()
        Thread(target=self._work, name="renderer", daemon=True).start()

    def submit(self, work: Callable[[], Result]) -> "Future[Result]":
        """Queue a function, and return a future of its result."""
        done: Future[Result] = Future()
        self.queue.put((work, done))
        return done

    def _work(self) -> None:
        while True:
            work, done = self.queue.get()
            try:
                done.set_result(work())
            except BaseException as error:  # passed on to the waiting thread
                done.set_exception(error)


@cache
def _render_thread() -> _RenderThread:
    return _RenderThread()


# functions that free resources, in the order of first use
_AT_END: dict[Callable[[], object], None] = {}


def _start(extra: str) -> None:
    # MuJoCo selects its OpenGL backend by this variable
    os.environ.setdefault("MUJOCO_GL", "egl")
    try:
        # the import loads the selected backend
        import_optional(MUJOCO, extra)
        _context()
    except (ImportError, AttributeError, RuntimeError, OSError) as error:
        raise MissingExtraError(MISSING_GL.format(error=str(error).split("\n")[0])) from None


@cache
def _context() -> MujocoObject:
    """Return the OpenGL context, bound to the calling thread."""
    backend = os.environ["MUJOCO_GL"]
    library = import_optional(f"mujoco.{'osmesa' if backend == 'osmesa' else 'egl'}", EXTRA)
    context = library.GLContext(1, 1)
    context.make_current()
    # before the exit handlers of the library
    atexit.register(lambda: draw(lambda: _end(context)))
    return context


def _end(context: MujocoObject) -> None:
    for at_end in _AT_END:
        at_end()
    context.free()
