"""A feed-forward network that was trained elsewhere, as plain numbers."""

from collections.abc import Callable

import equinox as eqx
import jax.numpy as jnp
import numpy as np
from jaxtyping import Array, Float

# beyond so many deviations a network has seen nothing when it was trained
MOST_DEVIATIONS = 10.0
# between layers
ACTIVATIONS: dict[str, Callable[[Array], Array]] = {
    "tanh": jnp.tanh,
    "relu": lambda x: jnp.maximum(x, 0.0),
}


class Network(eqx.Module):
    """Layers one after another, with an activation between them.

    Attributes:
        weights: of each layer, outputs by inputs.
        biases: of each layer.
        mean: of its inputs in training.
        deviation: of the same; inputs count in these.
        activation: the name of one of ``ACTIVATIONS``.
        task: what it was trained for, empty if it does not say.
    """

    weights: tuple[Float[np.ndarray, "_ _"], ...]
    biases: tuple[Float[np.ndarray, " _"], ...]
    mean: Float[np.ndarray, " inputs"]
    deviation: Float[np.ndarray, " inputs"]
    activation: str = eqx.field(static=True, default="tanh")
    task: str = eqx.field(static=True, default="")

    @property
    def inputs(self) -> int:
        """How many numbers it takes."""
        return len(self.mean)

    @property
    def outputs(self) -> int:
        """How many numbers it gives."""
        return len(self.biases[-1])

    def __call__(self, given: Float[Array, " inputs"]) -> Float[Array, " outputs"]:
        """What it answers, in the precision of what it is given."""
        dtype, activate = given.dtype, ACTIVATIONS[self.activation]
        mean, deviation = jnp.asarray(self.mean, dtype), jnp.asarray(self.deviation, dtype)
        x = jnp.clip((given - mean) / deviation, -MOST_DEVIATIONS, MOST_DEVIATIONS)
        for place, (weight, bias) in enumerate(zip(self.weights, self.biases, strict=True)):
            x = activate(x) if place else x
            x = jnp.asarray(weight, dtype) @ x + jnp.asarray(bias, dtype)
        return x
