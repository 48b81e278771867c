"""Write a controller as a component: compiled, differentiable and usable from scenario files.

A component is a frozen record of parameters with ``step(state, inputs, dt_s, key)``; its state
holds what evolves. This one needs none. A package registers it for scenario files by a line in its
``pyproject.toml``:

    [project.entry-points."kittiwake.controllers"]
    spring-damper = "my_package.spring_damper:SpringDamper"

after which a scenario may say ``controller: {type: spring-damper, stiffness_per_s2: 2}``. Units and
bounds are checked there like those of any other controller.
"""

from typing import Annotated, Any, ClassVar

import jax.numpy as jnp

import kittiwake as kw


class SpringDamper(kw.AbstractController):
    """Position controller with the force of a damped spring, as thrust and attitude."""

    consumes: ClassVar[type] = kw.PositionYaw
    produces: ClassVar[type] = kw.ThrustAttitude
    default_rate_hz: ClassVar[float | None] = 25.0

    mass_kg: Annotated[float, kw.bounds.POSITIVE] = 1.68
    stiffness_per_s2: Annotated[float, kw.bounds.POSITIVE] = 1.2
    damping_per_s: Annotated[float, kw.bounds.POSITIVE] = 1.8

    def step(
        self, state: Any, inputs: tuple[kw.PositionYaw, kw.Kinematics], dt_s: Any, key: Any
    ) -> tuple[Any, kw.ThrustAttitude]:
        """Return the state and the command; the values of one vehicle are scalars."""
        del dt_s, key
        setpoint, estimate = inputs
        pull = (setpoint.position_world_m - estimate.position_world_m) * self.stiffness_per_s2
        push = pull - estimate.velocity_world_mps * self.damping_per_s + kw.Vec3(0.0, 0.0, 9.81)
        size = push.norm()
        attitude = kw.EulerZYX(-jnp.arcsin(push.y / size), jnp.arctan2(push.x, push.z), 0.0)
        return state, kw.ThrustAttitude(self.mass_kg * size, kw.Quaternion.from_euler(attitude))


changes = {
    "vehicles.pelican.start.yaw_deg": 0.0,
    "vehicles.pelican.estimator": "truth",
    "vehicles.pelican.controller": SpringDamper(),
}
log = kw.load("keep-spot", changes).run(duration_s=20.0)
summary = log.summary or {}
rms_m = summary["vehicles"]["pelican"]["tracking_rms_m"]
print(f"The spring and damper held the position to {100 * rms_m:.1f} cm (RMS over 20 s).")
