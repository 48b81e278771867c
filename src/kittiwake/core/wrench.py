"""Force and torque on a body."""

import equinox as eqx

from kittiwake.geometry.vec3 import Vec3


class Wrench(eqx.Module):
    """In body axes, about the center of mass unless the holder says otherwise."""

    force_body_n: Vec3
    torque_body_nm: Vec3

    @classmethod
    def zero(cls) -> "Wrench":
        """Nothing."""
        return cls(Vec3.zero(), Vec3.zero())

    def __add__(self, other: "Wrench") -> "Wrench":
        return Wrench(
            self.force_body_n + other.force_body_n, self.torque_body_nm + other.torque_body_nm
        )

    def at(self, position_body_m: Vec3) -> "Wrench":
        """The same wrench, given about a point, about the center of mass."""
        lever = position_body_m.cross(self.force_body_n)
        return Wrench(self.force_body_n, self.torque_body_nm + lever)
