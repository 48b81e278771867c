"""Force and torque on a body."""

from kittiwake.geometry.vec3 import Vec3
from kittiwake.pytree import Module


class Wrench(Module):
    """Force and torque in body axes, about the center of mass unless stated otherwise."""

    force_body_n: Vec3
    torque_body_nm: Vec3

    @classmethod
    def zero(cls) -> "Wrench":
        """Return a wrench of zeros."""
        return cls(Vec3.zero(), Vec3.zero())

    def __add__(self, other: "Wrench") -> "Wrench":
        return Wrench(
            self.force_body_n + other.force_body_n, self.torque_body_nm + other.torque_body_nm
        )

    def at(self, position_body_m: Vec3) -> "Wrench":
        """Return this wrench about the center of mass, if it is given about another point."""
        lever = position_body_m.cross(self.force_body_n)
        return Wrench(self.force_body_n, self.torque_body_nm + lever)
