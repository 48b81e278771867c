"""Collector of mistakes, which reports all of them in one message."""

from collections.abc import Callable, Generator
from contextlib import contextmanager
from dataclasses import dataclass, field

from kittiwake.core.errors import KittiwakeError, ScenarioError
from kittiwake.scenario.problems import KeyPath, dotted, merge_similar


@dataclass
class ProblemList:
    """Mistakes found so far in one document; ``where`` returns file and line of a path."""

    where: Callable[[KeyPath], str]
    lines: list[str] = field(default_factory=list)

    @contextmanager
    def noting(self, path: KeyPath, *, placed: bool = False) -> Generator[None]:
        """Note an error raised inside the context; a ``placed`` one has its line already."""
        try:
            yield
        except KittiwakeError as error:
            if placed:
                self.lines.append(str(error))
            else:
                self.note(path, str(error))

    def note(self, path: KeyPath, message: str) -> None:
        """Add a mistake at a path."""
        self.lines.append(self.sentence(path, message))

    def sentence(self, path: KeyPath, message: str) -> str:
        """Return a message with its place in the file before it."""
        shown = "".join(c if c.isprintable() else repr(c)[1:-1] for c in message)
        return f"{self.where(path)}: {dotted(path)}: {shown}"

    def refuse(self) -> None:
        """Raise all noted mistakes, if there are any.

        Raises:
            ScenarioError: with a line for each mistake.
        """
        if self.lines:
            raise ScenarioError("\n".join(merge_similar(self.lines)))
