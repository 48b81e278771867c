"""Progress of work that is counted: a bar with the time left, or a number without an end."""

from collections.abc import Callable, Generator
from contextlib import contextmanager

from rich.console import Console
from rich.progress import (
    BarColumn,
    MofNCompleteColumn,
    Progress,
    SpinnerColumn,
    TextColumn,
    TimeElapsedColumn,
    TimeRemainingColumn,
)


@contextmanager
def progress_bar(words: str, *, shown: bool) -> Generator[Callable[[int, int], None]]:
    """Show a bar on standard error; the function takes the numbers of what is done and of all."""
    columns = (TextColumn(words), BarColumn(), MofNCompleteColumn(), TimeRemainingColumn())
    with Progress(*columns, console=Console(stderr=True), disable=not shown, transient=True) as bar:
        task = bar.add_task("", total=None)
        yield lambda done, total: bar.update(task, completed=done, total=total)


@contextmanager
def progress_count(words: str, *, shown: bool) -> Generator[Callable[[int], None]]:
    """Show a number on standard error; the function takes that of what is done."""
    columns = (SpinnerColumn(), TextColumn(words + " {task.completed}"), TimeElapsedColumn())
    with Progress(*columns, console=Console(stderr=True), disable=not shown, transient=True) as bar:
        task = bar.add_task("", total=None)
        yield lambda done: bar.update(task, completed=done)
