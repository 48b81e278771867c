"""Feed-forward neural network with given weights."""

from collections.abc import Callable

import jax.numpy as jnp
import numpy as np
from jaxtyping import Array, Float

from kittiwake.pytree import Module, field

# inputs are clipped to this many standard deviations, the range of training
MAX_DEVIATIONS = 10.0
# activation functions between layers
ACTIVATIONS: dict[str, Callable[[Array], Array]] = {
    "tanh": jnp.tanh,
    "relu": lambda x: jnp.maximum(x, 0.0),
}


class Network(Module):
    """Sequence of linear layers with an activation between them.

    Attributes:
        weights: the matrix of each layer, outputs by inputs.
        biases: the bias of each layer.
        mean: the mean of the inputs in training.
        deviation: the standard deviation of the inputs in training, by which they are divided.
        activation: the name of one of ``ACTIVATIONS``.
        task: the task that it was trained for; empty if unknown.
    """

    weights: tuple[Float[np.ndarray, "_ _"], ...]
    biases: tuple[Float[np.ndarray, " _"], ...]
    mean: Float[np.ndarray, " inputs"]
    deviation: Float[np.ndarray, " inputs"]
    activation: str = field(static=True, default="tanh")
    task: str = field(static=True, default="")

    @property
    def inputs(self) -> int:
        """Number of inputs."""
        return len(self.mean)

    @property
    def outputs(self) -> int:
        """Number of outputs."""
        return len(self.biases[-1])

    def __call__(self, given: Float[Array, " inputs"]) -> Float[Array, " outputs"]:
        """Return the outputs, in the precision of the inputs."""
        dtype, activate = given.dtype, ACTIVATIONS[self.activation]
        mean, deviation = jnp.asarray(self.mean, dtype), jnp.asarray(self.deviation, dtype)
        x = jnp.clip((given - mean) / deviation, -MAX_DEVIATIONS, MAX_DEVIATIONS)
        for place, (weight, bias) in enumerate(zip(self.weights, self.biases, strict=True)):
            x = activate(x) if place else x
            x = jnp.asarray(weight, dtype) @ x + jnp.asarray(bias, dtype)
        return x
