"""The one shape that everything with a behavior has.

A component is a frozen record of parameters. What evolves is its state, made by ``init`` and
replaced by ``step``; randomness comes in as a key. Each family fixes what goes in and what comes
out. A component is written for one vehicle; the simulation maps it over many.
"""

import re
from typing import Any, ClassVar, Generic, TypeVar

import equinox as eqx
from jaxtyping import PRNGKeyArray


class AbstractComponent(eqx.Module):
    """Parameters, with ``init(key) -> state``; ``default_rate_hz`` None means every step."""

    default_rate_hz: ClassVar[float | None] = None

    def init(self, key: PRNGKeyArray) -> Any:
        """The state before the first step; nothing for a component without memory."""
        del key
        return ()


C = TypeVar("C", bound=AbstractComponent)


class Scheduled(eqx.Module, Generic[C]):
    """A component and how often it runs: at every ``every``-th physics step; it holds between."""

    component: C
    every: int = eqx.field(static=True, default=1)


def kind_of(component: Any) -> str:
    """What scenarios call it: the words of its class, with dashes."""
    return re.sub(r"(?<!^)(?=[A-Z])", "-", type(component).__name__).lower()
