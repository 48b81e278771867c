"""Base class of all stateful components: parameters, ``init`` and ``step``.

A component is a frozen record of parameters. Its evolving state is a separate value, which
``init`` returns and ``step`` replaces; randomness enters as a key. Each family of components
defines the inputs and outputs of ``step``. A component is written for one vehicle, without a batch
axis; the simulation maps it over many.
"""

import re
from abc import abstractmethod
from collections.abc import Mapping
from typing import Any, ClassVar, Generic

from jaxtyping import PRNGKeyArray
from typing_extensions import TypeVar

from kittiwake.geometry.scalar import Real
from kittiwake.pytree import Module, field

State = TypeVar("State", default=Any)
Input = TypeVar("Input", default=Any)
Output = TypeVar("Output", default=Any)


class AbstractModel(Module):
    """A record of parameters that a registry makes available under a name.

    ``registered_as`` is its name in scenarios, or None if that is the words of the class.
    """

    registered_as: ClassVar[str | None] = None

    @classmethod
    def examples(cls) -> Mapping[str, Any]:
        """Return examples by name, of which each is a case of the contract tests.

        A class with required parameters overrides this. An example is an instance, or a mapping of
        parameters as in a scenario where the instance would need a class of another family.
        """
        return {"": cls()}


class AbstractComponent(AbstractModel):
    """A component; it runs at ``default_rate_hz``, or at every physics step if that is None.

    ``on_host`` is true if ``step`` calls Python outside of the compiled program. Its vehicle is
    then a group of its own.
    """

    default_rate_hz: ClassVar[float | None] = None
    on_host: ClassVar[bool] = False


class AbstractSteppedComponent(AbstractComponent, Generic[State, Input, Output]):
    """A component that maps inputs to an output; each family defines their types.

    A family whose initial state depends on more than a key has an ``init`` of its own.
    """

    @abstractmethod
    def step(
        self, state: State, inputs: Input, dt_s: Real, key: PRNGKeyArray
    ) -> tuple[State, Output]:
        """Return the next state and the output.

        Args:
            state: the state that ``init`` or the previous step returned.
            inputs: the inputs at this step.
            dt_s: time since the previous step of this component.
            key: random key of this step.
        """


class AbstractKeyedComponent(
    AbstractSteppedComponent[State, Input, Output], Generic[State, Input, Output]
):
    """A component whose initial state depends on its parameters and a random key only."""

    def init(self, key: PRNGKeyArray) -> State | tuple[()]:
        """Return the initial state; an empty tuple for a stateless component."""
        del key
        return ()


C = TypeVar("C", bound=AbstractComponent, covariant=True)


class Scheduled(Module, Generic[C]):
    """A component that runs at every ``every``-th physics step and holds its output between."""

    component: C
    every: int = field(static=True, default=1)


def registered_name(model: AbstractModel) -> str:
    """Return the name of a model in scenarios, by default the words of its class, with dashes."""
    if model.registered_as is not None:
        return model.registered_as
    return re.sub(r"(?<!^)(?=[A-Z])", "-", type(model).__name__).lower()
