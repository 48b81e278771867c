"""Aerodynamic drag of a body without its rotors.

    F_i = -c_i V_i                        linear: rotor blades and slow flow
    F_i = -rho (C_d A)_i |V| V_i / 2      quadratic: a blunt body (Hoerner 1965)
    tau_i = -k_i omega_i                  against rotation

V: velocity relative to the air, in body axes. Neglected: lift, and torque by an offset center of
pressure.
"""

from typing_extensions import override

from kittiwake.core.wrench import Wrench
from kittiwake.geometry.vec3 import Vec3
from kittiwake.interfaces.parts import AbstractForce, Flow


class LinearDrag(AbstractForce):
    """Force proportional to the airspeed, per body axis.

    Attributes:
        damping_body_kgps: c along each body axis.
    """

    damping_body_kgps: Vec3

    @override
    def wrench(self, flow: Flow) -> Wrench:
        return Wrench(-_by_axis(self.damping_body_kgps, flow.airspeed_body_mps), Vec3.zero())

    @classmethod
    @override
    def examples(cls) -> dict[str, "LinearDrag"]:
        return {"uneven": cls(Vec3(0.1, 0.2, 0.3))}


class QuadraticDrag(AbstractForce):
    """Force proportional to the squared airspeed; ``drag_area_body_m2`` is C_d A per body axis.

    Attributes:
        drag_area_body_m2: drag area C_d A along each body axis.
    """

    drag_area_body_m2: Vec3

    @override
    def wrench(self, flow: Flow) -> Wrench:
        airspeed = flow.airspeed_body_mps
        pressure = 0.5 * flow.surroundings.air.density_kgpm3 * airspeed.norm()
        return Wrench(-_by_axis(self.drag_area_body_m2, airspeed) * pressure, Vec3.zero())

    @classmethod
    @override
    def examples(cls) -> dict[str, "QuadraticDrag"]:
        return {"uneven": cls(Vec3(0.1, 0.2, 0.3))}


class RotationDamping(AbstractForce):
    """Torque proportional to the body rates, per body axis.

    Attributes:
        damping_body_nms: k about each body axis.
    """

    damping_body_nms: Vec3

    @override
    def wrench(self, flow: Flow) -> Wrench:
        return Wrench(
            Vec3.zero(), -_by_axis(self.damping_body_nms, flow.angular_velocity_body_radps)
        )

    @classmethod
    @override
    def examples(cls) -> dict[str, "RotationDamping"]:
        return {"uneven": cls(Vec3(0.1, 0.2, 0.3))}


def _by_axis(factors: Vec3, v: Vec3) -> Vec3:
    return Vec3(factors.x * v.x, factors.y * v.y, factors.z * v.z)
