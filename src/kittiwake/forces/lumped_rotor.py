"""Rotor with lumped coefficients: thrust, torque, and the effects of the airspeed.

    T = k_T Omega^2 - k_z Omega w + k_h (u^2 + v^2)
    H = -k_d Omega (u, v, 0)
    M = k_f Omega (V x e_z) - spin k_Q Omega^2 e_z

V = (u, v, w): velocity of the hub relative to the air in body axes. k_z: inflow lowers the thrust
of a climbing rotor; k_h: translational lift; k_d: rotor drag by the blades' unequal airspeed; k_f:
the disc flaps back, away from the flow, and takes the body along. Sources: Mahony, Kumar, Corke
(2012), "Multirotor aerial vehicles", equations 7-12; Svacha, Mohta, Kumar (2017), "Improving
quadrotor trajectory tracking by compensating for aerodynamic effects", equations 9-13. Valid while
the airspeed is small beside the blades' tips; the vortex ring is neglected.

The motor follows its command like a first-order lag, more slowly up or down if so given.
"""

from dataclasses import replace
from typing import Annotated

from typing_extensions import override

from kittiwake.core.bounds import NOT_NEGATIVE, POSITIVE
from kittiwake.core.wrench import Wrench
from kittiwake.geometry.scalar import Real, namespace
from kittiwake.geometry.vec3 import Vec3
from kittiwake.interfaces.parts import AbstractRotor, Flow

UP = Vec3(0.0, 0.0, 1.0)


class LumpedRotor(AbstractRotor):
    """Lumped coefficients of one rotor.

    Attributes:
        thrust_ns2: k_T.
        torque_nms2: k_Q.
        radius_m: radius of the disc, for ground effect and downwash.
        max_speed_radps: highest speed of the motor.
        min_speed_radps: lowest speed of the motor.
        spin_up_s: time constant towards higher speeds.
        spin_down_s: time constant towards lower speeds; as ``spin_up_s`` unless given.
        inertia_kgm2: J of all that turns.
        inflow_ns2pm: k_z, as a climbing rotor lifts less.
        translational_lift_ns2pm2: k_h.
        drag_ns2pm: k_d, of the unequal airspeed of the blades.
        flapping_ns2: k_f, of the disc that flaps back.
    """

    thrust_ns2: Annotated[Real, POSITIVE]
    torque_nms2: Annotated[Real, NOT_NEGATIVE]
    radius_m: Annotated[Real, POSITIVE]
    max_speed_radps: Annotated[Real, POSITIVE]
    min_speed_radps: Annotated[Real, NOT_NEGATIVE] = 0.0
    spin_up_s: Annotated[Real, POSITIVE] = 0.05
    spin_down_s: Annotated[Real, POSITIVE] | None = None
    inertia_kgm2: Annotated[Real, NOT_NEGATIVE] = 0.0
    inflow_ns2pm: Annotated[Real, NOT_NEGATIVE] = 0.0
    translational_lift_ns2pm2: Annotated[Real, NOT_NEGATIVE] = 0.0
    drag_ns2pm: Annotated[Real, NOT_NEGATIVE] = 0.0
    flapping_ns2: Annotated[Real, NOT_NEGATIVE] = 0.0

    @override
    def wrench(self, speed_radps: Real, spin: Real, flow: Flow, hub_body_m: Vec3) -> Wrench:
        square = speed_radps * speed_radps
        thrust = Vec3(0.0, 0.0, self.thrust_ns2 * square)
        torque = Vec3(0.0, 0.0, -spin * self.torque_nms2 * square)
        airspeed = flow.airspeed_at(hub_body_m)
        along = Vec3(airspeed.x, airspeed.y, 0.0)
        by_speed = along * self.drag_ns2pm + Vec3(0.0, 0.0, airspeed.z) * self.inflow_ns2pm
        lift = Vec3(0.0, 0.0, along.dot(along)) * self.translational_lift_ns2pm2
        flapping = along.cross(UP) * self.flapping_ns2
        return Wrench(thrust + lift - by_speed * speed_radps, torque + flapping * speed_radps)

    @override
    def speed_rate_radps2(self, speed_radps: Real, commanded_radps: Real) -> Real:
        gap = commanded_radps - speed_radps
        if self.spin_down_s is None:
            return gap / self.spin_up_s
        xp = namespace(gap, self.spin_up_s, self.spin_down_s)
        return gap / xp.where(gap > 0.0, self.spin_up_s, self.spin_down_s)

    @property
    @override
    def disc_radius_m(self) -> Real:
        return self.radius_m

    @property
    @override
    def speed_range_radps(self) -> tuple[Real, Real]:
        return self.min_speed_radps, self.max_speed_radps

    @property
    @override
    def thrust_factor_ns2(self) -> Real:
        return self.thrust_ns2

    @property
    @override
    def torque_factor_nms2(self) -> Real:
        return self.torque_nms2

    @property
    @override
    def axial_inertia_kgm2(self) -> Real:
        return self.inertia_kgm2

    @classmethod
    @override
    def examples(cls) -> dict[str, "LumpedRotor"]:
        static = cls(1e-5, 1e-7, 0.1, 800.0)
        moving = replace(
            static,
            spin_down_s=0.08,
            inflow_ns2pm=1e-4,
            translational_lift_ns2pm2=1e-3,
            drag_ns2pm=1e-4,
            flapping_ns2=1e-5,
        )
        return {"static": static, "in the wind": moving}
