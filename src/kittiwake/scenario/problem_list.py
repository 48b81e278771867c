"""Collecting mistakes, so that one message tells them all."""

from collections.abc import Callable, Generator
from contextlib import contextmanager
from dataclasses import dataclass, field

from kittiwake.core.errors import KittiwakeError, ScenarioError
from kittiwake.scenario.problems import KeyPath, dotted, once_for_all


@dataclass
class ProblemList:
    """The mistakes found so far in one document; ``where`` gives file and line of a path."""

    where: Callable[[KeyPath], str]
    lines: list[str] = field(default_factory=list)

    @contextmanager
    def noting(self, path: KeyPath, *, placed: bool = False) -> Generator[None]:
        """Notes an error raised inside; a ``placed`` one names its line already."""
        try:
            yield
        except KittiwakeError as error:
            if placed:
                self.lines.append(str(error))
            else:
                self.note(path, str(error))

    def note(self, path: KeyPath, said: str) -> None:
        """Notes a mistake."""
        self.lines.append(self.sentence(path, said))

    def sentence(self, path: KeyPath, said: str) -> str:
        """A sentence with its place in the file before it."""
        shown = "".join(c if c.isprintable() else repr(c)[1:-1] for c in said)
        return f"{self.where(path)}: {dotted(path)}: {shown}"

    def refuse(self) -> None:
        """Raises what was noted, if anything was.

        Raises:
            ScenarioError: with a line for each mistake.
        """
        if self.lines:
            raise ScenarioError("\n".join(once_for_all(self.lines)))
