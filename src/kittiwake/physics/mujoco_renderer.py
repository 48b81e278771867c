"""Pictures of a world, drawn by MuJoCo without a screen.

Ground, obstacles, platforms and the other vehicles are solids in plain colours; the ground is a
checker of squares of ``SQUARE_M``, blue where vessels float on it. Obstacles take the colours of
``OBSTACLE_COLOURS`` in turn. Light falls from above, without shadows. A deck bears the AprilTag of
its number (family 36h11; Olson 2011, "AprilTag: A robust and flexible visual fiducial system"): the
black square is ``TAG_SHARE`` of the deck's smaller side, and white is around it.

Pictures are drawn twice: the colours with several samples a pixel, the depth with one, in the
pixel's middle. All drawing happens in one thread, to which the graphics library is bound.
"""

import atexit
import os
from collections.abc import Callable, Mapping, Sequence
from concurrent.futures import Future
from functools import cache
from math import atan, degrees, tan
from queue import SimpleQueue
from threading import Thread
from typing import Any, NamedTuple
from weakref import WeakSet, finalize

import numpy as np

from kittiwake.core.engine import Collider, box_of
from kittiwake.core.errors import MissingExtraError, ScenarioError
from kittiwake.core.extras import optional
from kittiwake.core.renderer import AbstractRenderer, Frame, Picture, Places, Shot
from kittiwake.core.solid import Solid
from kittiwake.core.vehicle import Vehicle
from kittiwake.core.waves import WAVES
from kittiwake.core.world import World
from kittiwake.physics.mujoco_scene import MUJOCO, add_ground, add_solid, plate

EXTRA = "camera"
# of a deck's smaller side: the tag without its white border
TAG_SHARE = 0.8
# of a tag: its border and bits, and with the white around it
TAG_CELLS, WHITE_CELLS = 8, 10
CELL_PIXELS = 32
# of the family 36h11
MAX_TAGS = 587
# of a tag over its deck, so that neither shines through the other
TAG_ABOVE_M = 2e-4
SQUARE_M, GROUND_PIXELS = 1.0, 256
SAMPLES = 4
# of what is round: flat to 0.1 % of its radius
SLICES, STACKS = 64, 64
OBSTACLE_COLOURS = (
    (0.8, 0.1, 0.1),
    (0.9, 0.6, 0.1),
    (0.1, 0.5, 0.2),
    (0.4, 0.2, 0.6),
    (0.5, 0.4, 0.3),
)
VEHICLE_COLOUR, DECK_COLOUR = (0.2, 0.25, 0.3), (0.55, 0.55, 0.55)
LAND_COLOURS = ((0.35, 0.45, 0.3), (0.45, 0.52, 0.38))
WATER_COLOURS = ((0.13, 0.32, 0.45), (0.17, 0.38, 0.52))
SKY_COLOUR = (0.7, 0.8, 0.9)
AMBIENT, DIFFUSE = 0.55, 0.45
LIGHT_WORLD = (0.2, 0.1, -1.0)
# what else there is in a scene than the model's geoms
MORE_GEOMS = 100
# of the geoms that are not drawn
HIDDEN = 5
# along the optical axis
NEAR_M, FAR_M = 0.01, 1000.0
MISSING_GL = (
    "cameras draw with OpenGL without a screen, and that cannot be begun here ({error}). On Debian "
    "and Ubuntu scripts/render-setup installs it (libegl1 and libgl1-mesa-dri); a marker with "
    "rendered: false needs none"
)


def mujoco_renderer(world: World, vehicles: Mapping[str, Vehicle]) -> AbstractRenderer:
    """Draws a world and its vehicles.

    Raises:
        MissingExtraError: without the libraries that it draws with.
        ScenarioError: if there are more decks than tags.
    """
    _desk().run(_begin)
    library = optional(MUJOCO, EXTRA)
    return MujocoRenderer(library, _model(library, world, vehicles))


class MujocoRenderer(AbstractRenderer):
    """A model of the world, and what was set up to draw it at each size."""

    def __init__(self, mujoco: Any, model: Any) -> None:
        self.mujoco, self.model = mujoco, model
        self.data: Any = mujoco.MjData(model)
        self.scene: Any = mujoco.MjvScene(model, model.ngeom + MORE_GEOMS)
        self.canvases: dict[tuple[int, int, int], Any] = {}
        _DRAWING.add(self)
        finalize(self, _give_back, self.canvases).atexit = False

    def picture(self, frame: Frame, shot: Shot, places: Places) -> Picture:
        """Waits for the thread that draws."""
        return _desk().run(lambda: self._drawn(frame, shot, places))

    def _drawn(self, frame: Frame, shot: Shot, places: Places) -> Picture:
        finite = np.isfinite(places).all() and np.isfinite(shot.position_world_m).all()
        if not (finite and np.isfinite(shot.q_world_from_camera).all()):
            return _nothing(frame)
        self._place(places)
        self._aim(frame, shot)
        rgb = np.empty((frame.height, frame.width, 3), np.uint8)
        self._draw(frame, SAMPLES, rgb, None)
        if not frame.deep:
            return Picture(np.flipud(rgb), None)
        depth = np.empty((frame.height, frame.width), np.float32)
        self._draw(frame, 0, None, depth)
        return Picture(np.flipud(rgb), np.flipud(_depth_m(depth)))

    def _place(self, places: Places) -> None:
        self.data.mocap_pos[:] = places[:, :3]
        self.data.mocap_quat[:] = places[:, 3:]
        self.mujoco.mj_kinematics(self.model, self.data)
        self.mujoco.mj_camlight(self.model, self.data)

    def _aim(self, frame: Frame, shot: Shot) -> None:
        """Looks along x with z up, in place of against z with y up as MuJoCo does."""
        rotation = np.empty(9)
        self.mujoco.mju_quat2Mat(rotation, shot.q_world_from_camera.astype(float))
        forward, left, up = rotation.reshape(3, 3).T
        self.data.cam_xpos[0] = shot.position_world_m
        self.data.cam_xmat[0] = np.stack([-left, up, -forward], axis=1).ravel()
        half = tan(0.5 * shot.horizontal_field_of_view_rad) * frame.height / frame.width
        self.model.cam_fovy[0] = degrees(2.0 * atan(half))
        visual = self.model.vis.map
        visual.znear, visual.zfar = NEAR_M, FAR_M
        self.model.geom_group[:] = 0
        if shot.own >= 0:
            own = self.model.body(f"body {shot.own}").id
            self.model.geom_group[self.model.geom_bodyid == own] = HIDDEN
        camera, options = self.mujoco.MjvCamera(), self.mujoco.MjvOption()
        camera.type, camera.fixedcamid = self.mujoco.mjtCamera.mjCAMERA_FIXED, 0
        flags = self.mujoco.mjtRndFlag
        for unwanted in (flags.mjRND_SHADOW, flags.mjRND_HAZE, flags.mjRND_REFLECTION):
            self.scene.flags[unwanted] = False
        everything = self.mujoco.mjtCatBit.mjCAT_ALL.value
        arguments = (self.model, self.data, options, None, camera, everything)
        self.mujoco.mjv_updateScene(*arguments, self.scene)

    def _draw(self, frame: Frame, samples: int, rgb: Any, depth: Any) -> None:
        canvas = self._canvas(frame, samples)
        # the sky has no depth
        self.scene.flags[self.mujoco.mjtRndFlag.mjRND_SKYBOX] = depth is None
        area = self.mujoco.MjrRect(0, 0, frame.width, frame.height)
        self.mujoco.mjr_setBuffer(self.mujoco.mjtFramebuffer.mjFB_OFFSCREEN.value, canvas)
        self.mujoco.mjr_render(area, self.scene, canvas)
        self.mujoco.mjr_readPixels(rgb, depth, area, canvas)

    def _canvas(self, frame: Frame, samples: int) -> Any:
        key = (frame.width, frame.height, samples)
        if key not in self.canvases:
            visual = self.model.vis
            visual.global_.offwidth, visual.global_.offheight = frame.width, frame.height
            visual.quality.offsamples = samples
            canvas = self.mujoco.MjrContext(self.model, self.mujoco.mjtFontScale.mjFONTSCALE_100)
            canvas.readDepthMap = self.mujoco.mjtDepthMap.mjDEPTH_ZEROFAR
            self.canvases[key] = canvas
        return self.canvases[key]


_DRAWING: WeakSet[MujocoRenderer] = WeakSet()


def _give_back(canvases: dict[tuple[int, int, int], Any]) -> None:
    """Frees what a renderer held, in the thread that made it."""
    _desk().begin(lambda: [canvas.free() for canvas in canvases.values()])


def _nothing(frame: Frame) -> Picture:
    """Of a vehicle that is nowhere."""
    size = (frame.height, frame.width)
    depth = np.full(size, np.inf, np.float32) if frame.deep else None
    return Picture(np.zeros((*size, 3), np.uint8), depth)


def _depth_m(buffer: np.ndarray) -> np.ndarray:
    """Of a buffer d that is 1 at the near plane n and 0 at the far one f: n f / (n + d (f - n))."""
    depth = NEAR_M * FAR_M / (NEAR_M + buffer.astype(float) * (FAR_M - NEAR_M))
    return np.where(buffer > 0.0, depth, np.inf).astype(np.float32)


class _Desk:
    """The thread in which everything is drawn, one thing after another."""

    def __init__(self) -> None:
        self.waiting: SimpleQueue[tuple[Callable[[], Any], Future[Any]]] = SimpleQueue()
        Thread(target=self._work, name="renderer", daemon=True).start()

    def run(self, work: Callable[[], Any]) -> Any:
        """What the work gives, or raises."""
        return self.begin(work).result()

    def begin(self, work: Callable[[], Any]) -> "Future[Any]":
        """The same, without waiting."""
        done: Future[Any] = Future()
        self.waiting.put((work, done))
        return done

    def _work(self) -> None:
        while True:
            work, done = self.waiting.get()
            try:
                done.set_result(work())
            except BaseException as error:  # whoever waits for it is told
                done.set_exception(error)


@cache
def _desk() -> _Desk:
    return _Desk()


@cache
def _begin() -> Any:
    """The graphics library, bound to the thread that calls this."""
    # MuJoCo itself reads there with which library it is to draw
    kind = os.environ.setdefault("MUJOCO_GL", "egl")
    try:
        # which asks for that library at once, if the environment names it
        optional(MUJOCO, EXTRA)
        library = optional(f"mujoco.{'osmesa' if kind == 'osmesa' else 'egl'}", EXTRA)
        context = library.GLContext(1, 1)
        context.make_current()
    except (ImportError, AttributeError, RuntimeError, OSError) as error:
        raise MissingExtraError(MISSING_GL.format(error=str(error).split("\n")[0])) from None
    # before the library is told that the process ends
    atexit.register(lambda: _desk().run(lambda: _end(context)))
    return context


def _end(context: Any) -> None:
    for renderer in _DRAWING:
        for canvas in renderer.canvases.values():
            canvas.free()
    context.free()


def _model(mujoco: Any, world: World, vehicles: Mapping[str, Vehicle]) -> Any:
    spec = mujoco.MjSpec()
    _light(mujoco, spec)
    _paint_ground(mujoco, spec, world, vehicles)
    for number, obstacle in enumerate(world.obstacles):
        colour = OBSTACLE_COLOURS[number % len(OBSTACLE_COLOURS)]
        for solid in obstacle.solids_world():
            _solid(mujoco, spec, spec.worldbody, solid, colour)
    looks = [*map(_platform_look, world.platforms), *map(_vehicle_look, vehicles.values())]
    decks = [look.deck for look in looks if look.deck is not None]
    if len(decks) > MAX_TAGS:
        message = f"cameras tell at most {MAX_TAGS} decks apart, and there are {len(decks)}"
        raise ScenarioError(message)
    tag = 0
    for number, look in enumerate(looks):
        body = spec.worldbody.add_body(name=f"body {number}", mocap=True)
        for solid in look.solids:
            _solid(mujoco, spec, body, solid, VEHICLE_COLOUR)
        if look.deck is not None:
            _solid(mujoco, spec, body, look.deck, DECK_COLOUR)
            _tag(mujoco, spec, body, look.deck, tag)
            tag += 1
    spec.worldbody.add_camera(name="camera")
    return spec.compile()


class _Look(NamedTuple):
    """What is seen of a body, in its own axes."""

    solids: Sequence[Solid]
    deck: Solid | None


def _platform_look(platform: Any) -> _Look:
    return _Look((), plate(platform))


def _vehicle_look(vehicle: Vehicle) -> _Look:
    body = vehicle.dynamics
    collider = _collider(vehicle)
    solids = box_of(body.size_body_m) if collider is None else collider.solids
    return _Look(solids, None if body.deck is None else body.deck.solid())


def _collider(vehicle: Vehicle) -> Collider | None:
    """Of one that can be touched; None else."""
    try:
        return vehicle.dynamics.collider()
    except ScenarioError:
        return None


def _floats(vehicle: Vehicle) -> bool:
    collider = _collider(vehicle)
    return collider is not None and collider.meets == "all but the ground"


def _light(mujoco: Any, spec: Any) -> None:
    # lengths below are in metres, whatever the size of the world
    spec.stat.extent = 1.0
    spec.visual.quality.numslices, spec.visual.quality.numstacks = SLICES, STACKS
    spec.visual.headlight.ambient = [AMBIENT] * 3
    spec.visual.headlight.diffuse = spec.visual.headlight.specular = [0.0] * 3
    spec.worldbody.add_light(
        type=mujoco.mjtLightType.mjLIGHT_DIRECTIONAL,
        dir=LIGHT_WORLD,
        ambient=[0.0] * 3,
        diffuse=[DIFFUSE] * 3,
        specular=[0.0] * 3,
        castshadow=False,
    )
    spec.add_texture(
        name="sky",
        type=mujoco.mjtTexture.mjTEXTURE_SKYBOX,
        builtin=mujoco.mjtBuiltin.mjBUILTIN_FLAT,
        rgb1=SKY_COLOUR,
        rgb2=SKY_COLOUR,
        width=8,
        height=8,
    )


def _paint_ground(mujoco: Any, spec: Any, world: World, vehicles: Mapping[str, Vehicle]) -> None:
    floats = any(map(_floats, vehicles.values()))
    one, other = WATER_COLOURS if floats or WAVES in world.processes else LAND_COLOURS
    spec.add_texture(
        name="ground",
        type=mujoco.mjtTexture.mjTEXTURE_2D,
        builtin=mujoco.mjtBuiltin.mjBUILTIN_CHECKER,
        rgb1=one,
        rgb2=other,
        width=GROUND_PIXELS,
        height=GROUND_PIXELS,
    )
    repeat = 0.5 / SQUARE_M
    _material(mujoco, spec, "ground", (repeat, repeat), in_metres=True)
    add_ground(mujoco, spec, float(world.ground_z_m)).material = "ground"


def _material(
    mujoco: Any, spec: Any, name: str, repeat: tuple[float, float], *, in_metres: bool
) -> None:
    material = spec.add_material(name=name)
    material.textures[mujoco.mjtTextureRole.mjTEXROLE_RGB] = name
    material.texrepeat, material.texuniform = repeat, in_metres
    material.specular = material.reflectance = 0.0


def _solid(
    mujoco: Any, spec: Any, body: Any, solid: Solid, colour: tuple[float, float, float]
) -> None:
    add_solid(mujoco, spec, body, solid).rgba = [*colour, 1.0]


def _tag(mujoco: Any, spec: Any, body: Any, deck: Solid, number: int) -> None:
    """A square on a deck's upper side that fills its smaller side, white around the tag."""
    name = f"tag {number}"
    pixels = np.kron(_cells(number), np.ones((CELL_PIXELS, CELL_PIXELS), np.uint8))
    texture = spec.add_texture(
        name=name,
        type=mujoco.mjtTexture.mjTEXTURE_2D,
        width=len(pixels),
        height=len(pixels),
        nchannel=3,
    )
    texture.data = np.repeat(pixels[..., None], 3, axis=-1).tobytes()
    _material(mujoco, spec, name, (1.0, 1.0), in_metres=False)
    half = min(deck.sizes_m[:2]) * TAG_SHARE * WHITE_CELLS / TAG_CELLS
    x, y, z = deck.place_m
    body.add_geom(
        type=mujoco.mjtGeom.mjGEOM_PLANE,
        size=[half, half, 1.0],
        pos=[x, y, z + deck.sizes_m[2] + TAG_ABOVE_M],
        material=name,
    )


def _cells(number: int) -> np.ndarray:
    """Black and white, by row from above."""
    aruco = optional("cv2", EXTRA).aruco
    family = aruco.getPredefinedDictionary(aruco.DICT_APRILTAG_36h11)
    tag = aruco.generateImageMarker(family, number, TAG_CELLS)
    return np.pad(np.asarray(tag), (WHITE_CELLS - TAG_CELLS) // 2, constant_values=255)
