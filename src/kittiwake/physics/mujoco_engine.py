"""Contact by MuJoCo: rigid bodies with friction, the ground and obstacles.

A step of length dt begins at each body's pose and velocity. Without contact, its own model leads
from the velocity nu_0 to nu_1 (linear in the world, angular in the body). In substeps of at most
``SUBSTEP_S`` MuJoCo is given the force that causes this::

    tau = M (nu_1 - nu_0) / dt + c(q, nu)

with its own mass matrix M and bias forces c, and adds contact forces. A body without contact keeps
the motion of its own model bit for bit; one with contact moves according to MuJoCo. A vessel, whose
added mass MuJoCo represents only approximately, applies the contact impulse with its own mass
matrix. No state is kept between steps, not even a warm start of the solver, so that a step is a
function of the bodies' motions alone. Bodies that are lost or too far away touch nothing.

Motions of a body that contact cannot change, such as the heave of a vessel without that motion,
have ``UNMOVED`` times its inertia added: their velocity is then the model's, and the body carries
what stands on it. A moving platform has six such motions.

Source: MuJoCo (Todorov, Erez and Tassa 2012, "MuJoCo: A physics engine for model-based control").
A foot is a small sphere; the spring of a contact has the frequency and the damping of the body's
feet, as ``solref`` (1 / (zeta omega_0), zeta). With ``IMPEDANCE`` friction creeps by 13 um/s on a
slope of 5 deg. MuJoCo's solver against that creep (``noslip``) makes light bodies bounce.
"""

from collections.abc import Mapping, Sequence
from functools import partial
from math import ceil, copysign
from threading import Lock
from typing import Annotated, ClassVar, NamedTuple

import jax
import jax.numpy as jnp
import numpy as np
from jaxtyping import Array, ArrayLike, Bool
from typing_extensions import override

from kittiwake.contact.deck import FIRST_DECK, GROUND
from kittiwake.contact.engine import (
    ALONG,
    COLUMNS,
    AbstractContactEngine,
    AbstractPhysics,
    Collider,
    CollidesWith,
    ContactParameters,
    Contacts,
    Motions,
)
from kittiwake.contact.solid import Solid
from kittiwake.core.bounds import POSITIVE
from kittiwake.core.errors import ScenarioError
from kittiwake.core.extras import import_optional
from kittiwake.geometry.quaternion import Quaternion
from kittiwake.geometry.scalar import Real
from kittiwake.geometry.vec3 import Vec3
from kittiwake.interfaces.vehicle import AssembledVehicle
from kittiwake.physics.mujoco_model import EXTRA, MUJOCO, MujocoObject, add_ground, add_solid, plate
from kittiwake.pytree import field
from kittiwake.world.environment import AbstractPlatform
from kittiwake.world.world import WorldModel

SUBSTEP_S = 0.002
# added inertia of locked motions, as a multiple of the body's own
UNMOVED = 1e8
FOOT_RADIUS_M = 0.005
# constraint impedance (solimp) of contacts
IMPEDANCE = 0.99
# bodies farther away from the origin than this, or with NaN, touch nothing
FARTHEST = 1e6
# largest overlap at the start; deeper bodies would be ejected
DEEPEST_START_M = 0.02
# tolerance of the number of substeps against rounding
ROUNDING = 1e-9
# numbers of a free joint's position (position and quaternion) and velocity
PLACES, RATES = 7, 6
NOTHING = 0
# contact bits of geoms: their own kind, and the kinds that they collide with
FIXED_BIT, BODY_BIT, GROUND_BIT = 1, 2, 4
AFFINITY: dict[CollidesWith, int] = {
    "bodies": 0,
    "all but the ground": FIXED_BIT | BODY_BIT,
    "all": FIXED_BIT | BODY_BIT | GROUND_BIT,
}


class Mujoco(AbstractPhysics):
    """Contact of all vehicles, decks and obstacles by MuJoCo.

    Attributes:
        substep_s: longest step of MuJoCo.
    """

    solid: ClassVar[bool] = True

    substep_s: Annotated[Real, POSITIVE] = SUBSTEP_S

    @override
    def engine(self, world: WorldModel, vehicles: Mapping[str, AssembledVehicle]) -> "MujocoEngine":
        colliders = {name: _collider(name, vehicle) for name, vehicle in vehicles.items()}
        machine = _Machine(world, list(colliders.items()))
        _check_overlaps(machine, world, vehicles)
        return MujocoEngine(machine, float(self.substep_s))


class MujocoEngine(AbstractContactEngine):
    """Contact engine that calls MuJoCo on the host, in double precision."""

    machine: "_Machine" = field(static=True)
    substep_s: float = field(static=True)

    @override
    def contacts(
        self, before: Motions, after: Motions, present: Bool[Array, " bodies"], dt_s: float
    ) -> Contacts:
        count, real = len(self.machine.bodies), np.dtype(jnp.result_type(before))
        numbers = [_words(jnp.asarray(motions)) for motions in (before, after)]
        whole = jax.ShapeDtypeStruct((count,), jnp.int32)
        flag = jax.ShapeDtypeStruct((count,), bool)
        bits, *each = numbers[0].shape[1:]
        form = (
            jax.ShapeDtypeStruct((count, bits + RATES, *each), numbers[0].dtype),
            flag,
            whole,
            whole,
        )
        run = partial(self.machine.moved, ceil(dt_s / self.substep_s - ROUNDING), dt_s, real)
        found, *met = jax.pure_callback(run, form, *numbers, present, vmap_method="sequential")
        rows = jax.lax.bitcast_convert_type(found, real)
        return Contacts(rows[:, :COLUMNS], *met, impulses=rows[:, COLUMNS:])


def _words(numbers: Array) -> Array:
    """Return the bits of numbers, so that a callback in another thread receives them unchanged.

    There JAX is in its default mode, which converts double to single precision.
    """
    return jax.lax.bitcast_convert_type(numbers, jnp.uint32)


class _Body(NamedTuple):
    """Offsets of a body's numbers in MuJoCo's position and velocity arrays."""

    place: int
    rate: int


class _Machine:
    """MuJoCo's model, and scratch data that is reset in every call."""

    def __init__(self, world: WorldModel, vehicles: Sequence[tuple[str, Collider]]) -> None:
        self.mujoco = import_optional(MUJOCO, EXTRA)
        spec = self.mujoco.MjSpec()
        self._settings(spec)
        self._ground(spec, world)
        platforms = [(f"platform {i}", _platform(p)) for i, p in enumerate(world.platforms)]
        colliders = [*platforms, *((f"vehicle {name}", own) for name, own in vehicles)]
        for name, collider in colliders:
            self._body(spec, name, collider)
        try:
            self.model: MujocoObject = spec.compile()
        except ValueError as error:
            message = f"MuJoCo rejects these bodies: {' '.join(str(error).split())}"
            raise ScenarioError(message) from None
        self.data: MujocoObject = self.mujoco.MjData(self.model)
        self.lock = Lock()
        self.names = [name for name, _ in colliders]
        self.bodies = [self._offsets(name) for name in self.names]
        self.parked = np.array([_parked(place) for place in range(len(colliders))])
        self._set_armature([collider for _, collider in colliders])
        self._index_geoms(colliders)
        self.contact_bits = self.model.geom_contype.copy(), self.model.geom_conaffinity.copy()

    def moved(
        self,
        steps: int,
        dt_s: float,
        real: np.dtype[np.floating],
        before: ArrayLike,
        after: ArrayLike,
        present: ArrayLike,
    ) -> tuple[np.ndarray, np.ndarray, np.ndarray, np.ndarray]:
        """Return the fields of ``Contacts``; motions and impulses are passed as bits."""
        own = np.ascontiguousarray(after).view(real).reshape(-1, COLUMNS)
        began = np.ascontiguousarray(before).view(real).reshape(-1, COLUMNS).astype(float)
        free = own.astype(float)
        away = (
            ~np.asarray(present, bool)
            | (_farthest(began) > FARTHEST)
            | (_farthest(free) > FARTHEST)
        )
        began[away] = free[away] = self.parked[away]
        with self.lock:
            self._disable(away)
            self._place(began)
            self.model.opt.timestep = dt_s / steps
            stepped = self._substeps(steps, self._acceleration(began, free, dt_s))
            moved = self._motions()
        touched: np.ndarray = stepped.forces.max(axis=1) > 0.0
        surface = np.where(touched, stepped.forces.argmax(axis=1), NOTHING)
        motions = np.where(touched[:, None], moved.astype(real), own)
        rows = np.concatenate([motions, stepped.impulses.astype(real)], axis=1)
        bits = rows.view(np.uint32).reshape(len(rows), COLUMNS + RATES, *np.shape(after)[2:])
        return bits, touched, stepped.feet.astype(np.int32), surface.astype(np.int32)

    def _settings(self, spec: MujocoObject) -> None:
        spec.option.gravity = [0.0, 0.0, 0.0]
        spec.option.cone = self.mujoco.mjtCone.mjCONE_ELLIPTIC
        off = self.mujoco.mjtDisableBit
        # invalid states must be visible, not silently reset
        spec.option.disableflags |= off.mjDSBL_WARMSTART | off.mjDSBL_AUTORESET

    def _ground(self, spec: MujocoObject, world: WorldModel) -> None:
        ground = add_ground(self.mujoco, spec, float(world.ground_z_m))
        ground.contype, ground.conaffinity = GROUND_BIT, 0
        for obstacle in world.obstacles:
            for solid in obstacle.solids_world():
                self._geom(spec, spec.worldbody, solid, "bodies")

    def _body(self, spec: MujocoObject, name: str, collider: Collider) -> None:
        body = spec.worldbody.add_body(name=name, mass=collider.mass_kg, explicitinertial=True)
        inertia = collider.inertia_kgm2
        body.fullinertia = [*np.diag(inertia), inertia[0, 1], inertia[0, 2], inertia[1, 2]]
        body.ipos = collider.center_of_mass_body_m
        body.add_freejoint()
        collides_with = collider.collides_with
        for solid in collider.solids:
            self._geom(spec, body, solid, collides_with, collider.parameters)
        for foot in collider.feet_body_m:
            raised = (foot[0], foot[1], foot[2] - copysign(FOOT_RADIUS_M, foot[2]))
            ball = Solid("sphere", (FOOT_RADIUS_M,), raised)
            self._geom(spec, body, ball, collides_with, collider.parameters)
        if collider.deck is not None:
            # the plate of a deck may extend through its vehicle to the ground
            collides_with = "bodies" if collides_with == "bodies" else "all but the ground"
            self._geom(spec, body, collider.deck, collides_with, name=f"deck of {name}")

    def _geom(
        self,
        spec: MujocoObject,
        body: MujocoObject,
        solid: Solid,
        collides_with: CollidesWith,
        parameters: ContactParameters | None = None,
        name: str = "",
    ) -> None:
        geom = add_solid(self.mujoco, spec, body, solid, name)
        geom.contype = FIXED_BIT if collides_with == "bodies" else BODY_BIT
        geom.conaffinity = AFFINITY[collides_with]
        if parameters is not None:
            # contact parameters are those of the standing body, not of the surface
            geom.priority = 1
            geom.friction[0] = parameters.friction
            geom.solref = [
                1.0 / (parameters.damping * parameters.frequency_radps),
                parameters.damping,
            ]
            geom.solimp[:2] = [IMPEDANCE, IMPEDANCE]

    def _offsets(self, name: str) -> _Body:
        joint = self.model.body(name).jntadr[0]
        return _Body(int(self.model.jnt_qposadr[joint]), int(self.model.jnt_dofadr[joint]))

    def _set_armature(self, colliders: Sequence[Collider]) -> None:
        """Set the added inertia: very large for locked motions, else that of the water."""
        for body, collider in zip(self.bodies, colliders, strict=True):
            inertia = [*[collider.mass_kg] * ALONG, *np.diag(collider.inertia_kgm2)]
            for axis, (own, locked) in enumerate(zip(inertia, collider.locked, strict=True)):
                added = UNMOVED * own if locked else collider.added[axis]
                self.model.dof_armature[body.rate + axis] = added
        self.mujoco.mj_setConst(self.model, self.data)

    def _index_geoms(self, colliders: Sequence[tuple[str, Collider]]) -> None:
        """Record the owner of each geom, whether it is a foot, and the id of its surface."""
        count = self.model.ngeom
        self.owner = np.full(count, -1)
        self.is_foot = np.zeros(count, bool)
        self.surface = np.zeros(count, int)
        self.surface[self.model.geom("ground").id] = GROUND
        surface_id = FIRST_DECK
        for place, (name, collider) in enumerate(colliders):
            body = self.model.body(name)
            geoms = slice(body.geomadr[0], body.geomadr[0] + body.geomnum[0])
            self.owner[geoms] = place
            first = body.geomadr[0] + len(collider.solids)
            self.is_foot[first : first + len(collider.feet_body_m)] = True
            if collider.deck is not None:
                self.surface[self.model.geom(f"deck of {name}").id] = surface_id
                surface_id += 1
        self.surfaces = surface_id

    def overlaps(self, motions: np.ndarray) -> list[tuple[str, str, float]]:
        """Return pairs of names of overlapping bodies or obstacles, with the depth in m."""
        with self.lock:
            self._disable(np.zeros(len(self.bodies), bool))
            self._place(motions)
            self.mujoco.mj_forward(self.model, self.data)
            found = zip(
                self.data.contact.geom.tolist(), self.data.contact.dist.tolist(), strict=True
            )
            return [(self._name(one), self._name(other), -gap) for (one, other), gap in found]

    def _name(self, geom: int) -> str:
        if self.owner[geom] >= 0:
            return self.names[self.owner[geom]]
        return "the ground" if self.surface[geom] == GROUND else "an obstacle"

    def _disable(self, away: np.ndarray) -> None:
        """Disable the contact of the given bodies."""
        absent = np.append(away, False)[self.owner]
        for own, whole in zip(
            (self.model.geom_contype, self.model.geom_conaffinity), self.contact_bits, strict=True
        ):
            own[:] = np.where(absent, 0, whole)

    def _place(self, motions: np.ndarray) -> None:
        self.mujoco.mj_resetData(self.model, self.data)
        for body, motion in zip(self.bodies, motions, strict=True):
            self.data.qpos[body.place : body.place + PLACES] = motion[:PLACES]
            self.data.qvel[body.rate : body.rate + RATES] = motion[PLACES:]

    def _acceleration(self, began: np.ndarray, free: np.ndarray, dt_s: float) -> np.ndarray:
        """Return the acceleration that leads from one motion to the other."""
        acceleration = np.zeros(self.model.nv)
        for body, rate in zip(self.bodies, (free - began)[:, PLACES:] / dt_s, strict=True):
            acceleration[body.rate : body.rate + RATES] = rate
        return acceleration

    def _substeps(self, steps: int, acceleration: np.ndarray) -> "_Substeps":
        """Run the substeps and return their total contact."""
        model, data, mj = self.model, self.data, self.mujoco
        forces = np.zeros((len(self.bodies), self.surfaces))
        standing: set[int] = set()
        impulse = np.zeros(model.nv)
        for _ in range(steps):
            mj.mj_step1(model, data)
            mj.mj_mulM(model, data, data.qfrc_applied, acceleration)
            data.qfrc_applied += data.qfrc_bias
            mj.mj_step2(model, data)
            if data.ncon:
                impulse += data.qfrc_constraint * model.opt.timestep
                standing |= self._add_forces(forces)
        owners = [self.owner[geom] for geom in standing]
        feet = np.bincount(owners, minlength=len(self.bodies))
        own = [impulse[body.rate : body.rate + RATES] for body in self.bodies]
        return _Substeps(feet, forces, np.reshape(own, (-1, RATES)))

    def _add_forces(self, forces: np.ndarray) -> set[int]:
        """Add the normal force of each contact to ``forces``; return the feet in contact."""
        standing: set[int] = set()
        for index, (one, other) in enumerate(self.data.contact.geom.tolist()):
            force = np.zeros(6)
            self.mujoco.mj_contactForce(self.model, self.data, index, force)
            for geom, under in ((one, other), (other, one)):
                if self.owner[geom] >= 0 and force[0] > 0.0:
                    forces[self.owner[geom], self.surface[under]] += force[0]
                    standing |= {geom} if self.is_foot[geom] else set()
        return standing

    def _motions(self) -> np.ndarray:
        qpos, qvel = self.data.qpos, self.data.qvel
        rows = [
            np.concatenate([qpos[b.place : b.place + PLACES], qvel[b.rate : b.rate + RATES]])
            for b in self.bodies
        ]
        return np.reshape(rows, (-1, COLUMNS))


class _Substeps(NamedTuple):
    """Feet in contact, summed normal forces by surface, and contact impulse of each body."""

    feet: np.ndarray
    forces: np.ndarray
    impulses: np.ndarray


def _farthest(motions: np.ndarray) -> np.ndarray:
    """Return the largest magnitude in each row, infinite for rows that are not finite."""
    return np.where(np.isfinite(motions), np.abs(motions), np.inf).max(axis=1, initial=0.0)


def _parked(place: int) -> list[float]:
    """Return a motion at rest, far from everything, for a body that takes no part."""
    return [FARTHEST, 1e3 * place, FARTHEST, 1.0, *[0.0] * 9]


def _collider(name: str, vehicle: AssembledVehicle) -> Collider:
    try:
        collider = vehicle.dynamics.collider()
    except ScenarioError as error:
        message = f"vehicles.{name}: {error}"
        raise ScenarioError(message) from None
    if not (collider.solids or collider.feet_body_m or collider.deck):
        message = (
            f"vehicles.{name}: has no collision geometry; write parameters.size_body_m or "
            "parameters.landing_gear, or write physics: compliant"
        )
        raise ScenarioError(message)
    return collider


def _check_overlaps(
    machine: _Machine, world: WorldModel, vehicles: Mapping[str, AssembledVehicle]
) -> None:
    """Raise ScenarioError for bodies that overlap at the start: they would be ejected."""
    platforms = [platform.deck_state(0.0) for platform in world.platforms]
    rows = [_row(p.center_world_m, p.q_world_from_deck) for p in platforms]
    starts = [vehicle.start.kinematics() for vehicle in vehicles.values()]
    rows += [_row(start.position_world_m, start.q_world_from_body) for start in starts]
    for one, other, depth_m in machine.overlaps(np.reshape(rows, (-1, COLUMNS))):
        if depth_m > DEEPEST_START_M:
            message = (
                f"{one} and {other} overlap by {depth_m:.2g} m at the start; write another "
                "start.position_world_m"
            )
            raise ScenarioError(message)


def _row(position_m: Vec3, q: Quaternion) -> list[float]:
    """Return a motion at rest."""
    numbers = (position_m.x, position_m.y, position_m.z, q.w, q.x, q.y, q.z)
    return [*map(float, numbers), *[0.0] * RATES]


def _platform(platform: AbstractPlatform) -> Collider:
    """Return the plate of a platform, with all motions locked."""
    return Collider(
        mass_kg=1.0,
        inertia_kgm2=np.eye(3),
        solids=(),
        deck=plate(platform),
        locked=(True,) * RATES,
        collides_with="bodies",
    )
