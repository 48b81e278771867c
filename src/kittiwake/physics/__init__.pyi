"""Physics of vehicles: equations of motion, integrators and contact.

Written by scripts/stubs from the registries.
"""

from kittiwake.core.registry import Registry
from kittiwake.core.specification import ComponentSpec

DYNAMICS: Registry
PHYSICS: Registry

class Compliant(ComponentSpec):
    """Compliant feet of each vehicle: fast, in batches, differentiable."""

    def __init__(self) -> None: ...

class Mujoco(ComponentSpec):
    """Rigid-body contact of all vehicles and obstacles, by MuJoCo."""

    def __init__(self, *, substep_s: float = 0.002) -> None: ...
