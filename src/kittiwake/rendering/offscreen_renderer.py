"""Pictures of looks at poses, drawn by MuJoCo without a screen: light, shadows and a sky.

All that is drawn is a geom of one resting body. Where a geom is stands in the engine's results, and
is written there for each picture; nothing is simulated. What changes its shape is a mesh whose
vertices are written anew. Lines are added to the scene after that.
"""

from collections.abc import Sequence
from itertools import pairwise
from math import atan2, degrees
from typing import Any, NamedTuple
from weakref import WeakSet, finalize

import numpy as np
from jaxtyping import Float, Float32, Float64, UInt8

from kittiwake.core.extras import optional
from kittiwake.physics.mujoco_model import MUJOCO
from kittiwake.rendering.look import Look
from kittiwake.rendering.render_thread import begin_graphics, draw, draw_later
from kittiwake.rendering.shaded_mesh import Shaded, bendable, shaded
from kittiwake.rendering.view import View

EXTRA = "film"
SAMPLES = 4
SHADOW_PIXELS = 2048
# of lines in one picture; with more, some of their points are left out
MOST_SEGMENTS = 6000
# shorter ones would not be drawn
SEGMENT_PIXELS = 1.5
HIDDEN = 5
# of what is nowhere
ORIGIN = np.array([0.0, 0.0, 0.0, 1.0, 0.0, 0.0, 0.0])
# in distances from the eye to what it looks at
NEAR, FAR, SHADOWS, ABOVE = 0.02, 2000.0, 1.0, 2.0
LIGHT_WORLD = (0.45, -0.6, -1.0)
# so that what is level has just its own color
AMBIENT, DIFFUSE, SPECULAR = 0.6, 0.5, 0.15
SHININESS = 0.4
# the sky is as bright at the horizon as what is far away
HORIZON_RGB, ZENITH_RGB, HAZE_RAD = (228, 236, 243), (92, 148, 214), 0.3
SKY_PIXELS = 256
# what is clearer than this lets light through
CLEAR = 0.5

Poses = tuple[Float[np.ndarray, "_ 3"], Float[np.ndarray, "_ 4"]]


class Polyline(NamedTuple):
    """A line through points."""

    points_world_m: Float[np.ndarray, "points 3"]
    rgb: tuple[int, int, int]
    width_px: float = 2.0
    opacity: float = 1.0


class OffscreenRenderer:
    """Draws so many of each of some looks, and what stands still, in pictures of one size.

    ``changing`` are looks in the world whose vertices are told anew for each picture.

    Raises:
        MissingExtraError: without the libraries that it draws with.
    """

    def __init__(
        self,
        looks: Sequence[tuple[Look, int]],
        fixed: Sequence[Look],
        width: int,
        height: int,
        changing: Sequence[Look] = (),
    ) -> None:
        begin_graphics(_give_all_back, EXTRA)
        self.mujoco: Any = optional(MUJOCO, EXTRA)
        self.width, self.height = width, height
        self.resting = len(fixed)
        self.faces = [look.faces for look in changing]
        still = [(shaded(look), look, 1) for look in fixed]
        moved = [(shaded(look), look, count) for look, count in looks]
        bent = [(bendable(look.vertices_m, look.faces), look, 1) for look in changing]
        self.model: Any = _model(self.mujoco, [*still, *moved, *bent])
        self.data: Any = self.mujoco.MjData(self.model)
        self.shadowless = np.concatenate(
            [
                np.array([not _shades(look) for look in fixed], bool),
                *(np.full(count, not _shades(look)) for look, count in looks),
                np.ones(len(changing), bool),
            ]
        )
        meshes = self.model.geom_dataid
        # what MuJoCo has moved and turned the meshes by
        self.shift_m: np.ndarray = self.model.mesh_pos[meshes]
        self.turn = _matrices(self.model.mesh_quat[meshes])
        if changing:
            # whose vertices are written without that
            self.shift_m[-len(changing) :], self.turn[-len(changing) :] = 0.0, np.eye(3)
        self.scene: Any = self.mujoco.MjvScene(self.model, self.model.ngeom + MOST_SEGMENTS)
        self.canvases: list[Any] = []
        _DRAWING.add(self)
        finalize(self, _give_back, self.canvases).atexit = False

    def picture(
        self,
        poses: Sequence[Poses],
        lines: Sequence[Polyline],
        view: View,
        shapes: Sequence[Float[np.ndarray, "_ 3"]] = (),
    ) -> UInt8[np.ndarray, "height width 3"]:
        """Waits for the thread that draws; what is nowhere (not finite) is not drawn.

        Args:
            poses: of each look its places and its quaternions (w, x, y, z) in the world.
            lines: drawn as well.
            view: from where.
            shapes: of each changing look its vertices in the world.
        """
        return draw(lambda: self._drawn(poses, lines, view, shapes))

    def _drawn(
        self,
        poses: Sequence[Poses],
        lines: Sequence[Polyline],
        view: View,
        shapes: Sequence[np.ndarray],
    ) -> np.ndarray:
        canvas = self._canvas()
        self._place(poses)
        self._bend(shapes, canvas)
        self._aim(view, canvas)
        self._add(lines, view)
        rgb = np.empty((self.height, self.width, 3), np.uint8)
        area = self.mujoco.MjrRect(0, 0, self.width, self.height)
        self.mujoco.mjr_setBuffer(self.mujoco.mjtFramebuffer.mjFB_OFFSCREEN.value, canvas)
        self.mujoco.mjr_render(area, self.scene, canvas)
        self.mujoco.mjr_readPixels(rgb, None, area, canvas)
        return np.flipud(rgb)

    def _place(self, poses: Sequence[Poses]) -> None:
        still = np.tile(ORIGIN, (self.resting, 1))
        moved = [np.concatenate(pose, axis=1) for pose in poses]
        every = np.concatenate([still, *moved, np.tile(ORIGIN, (len(self.faces), 1))])
        somewhere = np.asarray(np.isfinite(every).all(axis=1))
        places_m, attitudes = np.split(np.where(somewhere[:, None], every, ORIGIN), [3], axis=1)
        rotations = _matrices(attitudes)
        self.data.geom_xpos[:] = places_m + np.einsum("nij,nj->ni", rotations, self.shift_m)
        self.data.geom_xmat[:] = (rotations @ self.turn).reshape(-1, 9)
        self.model.geom_group[:] = np.where(somewhere, 0, HIDDEN)

    def _bend(self, shapes: Sequence[np.ndarray], canvas: Any) -> None:
        model, first = self.model, self.model.nmesh - len(self.faces)
        for mesh, (faces, vertices) in enumerate(zip(self.faces, shapes, strict=True), first):
            bent = bendable(vertices, faces)
            at, count = model.mesh_vertadr[mesh], model.mesh_vertnum[mesh]
            model.mesh_vert[at : at + count] = bent.corners_m.reshape(-1, 3)
            at, count = model.mesh_normaladr[mesh], model.mesh_normalnum[mesh]
            model.mesh_normal[at : at + count] = bent.normals.reshape(-1, 3)
            self.mujoco.mjr_uploadMesh(model, canvas, mesh)

    def _aim(self, view: View, canvas: Any) -> None:
        ahead, far = view.axes[2], view.distance_m
        camera = self.mujoco.MjvCamera()
        camera.lookat, camera.distance = view.look_at_world_m, far
        camera.azimuth = degrees(atan2(ahead[1], ahead[0]))
        camera.elevation = degrees(atan2(ahead[2], np.hypot(ahead[0], ahead[1])))
        visual = self.model.vis
        visual.global_.fovy = degrees(view.height_rad)
        visual.map.znear, visual.map.zfar = NEAR * far, FAR * far
        # what is above the light has no shadow, nor what is outside of a square about it
        light = np.array(LIGHT_WORLD) / np.linalg.norm(LIGHT_WORLD)
        self.data.light_xpos[:] = view.look_at_world_m - ABOVE * far * light
        self.data.light_xdir[:] = light
        canvas.shadowClip = SHADOWS * far
        options = self.mujoco.MjvOption()
        # the sky is drawn about the scene's camera, which else were that of the last picture
        self.mujoco.mjv_updateCamera(self.model, self.data, camera, self.scene)
        everything = self.mujoco.mjtCatBit.mjCAT_ALL.value
        arguments = (self.model, self.data, options, None, camera, everything)
        self.mujoco.mjv_updateScene(*arguments, self.scene)
        shown = np.flatnonzero(self.model.geom_group == 0)
        for number in np.flatnonzero(self.shadowless[shown]).tolist():
            self.scene.geoms[number].castshadow = 0

    def _add(self, lines: Sequence[Polyline], view: View) -> None:
        """Lines as geoms of the scene, a geom for each of their segments."""
        kind, zeros, still = self.mujoco.mjtGeom.mjGEOM_LINE, np.zeros(3), np.eye(3).ravel()
        pixel_m = view.distance_m * view.height_rad / self.height
        for line, points_m in zip(lines, _thinned(lines, pixel_m), strict=True):
            rgba = _line_rgba(line)
            for one, other in pairwise(points_m):
                geom = self.scene.geoms[self.scene.ngeom]
                self.mujoco.mjv_initGeom(geom, kind, zeros, zeros, still, rgba)
                self.mujoco.mjv_connector(geom, kind, line.width_px, one, other)
                geom.category = self.mujoco.mjtCatBit.mjCAT_DECOR.value
                self.scene.ngeom += 1

    def _canvas(self) -> Any:
        if not self.canvases:
            visual = self.model.vis
            visual.global_.offwidth, visual.global_.offheight = self.width, self.height
            visual.quality.offsamples, visual.quality.shadowsize = SAMPLES, SHADOW_PIXELS
            self.canvases.append(
                self.mujoco.MjrContext(self.model, self.mujoco.mjtFontScale.mjFONTSCALE_100)
            )
        return self.canvases[0]


_DRAWING: WeakSet[OffscreenRenderer] = WeakSet()


def _give_back(canvases: list[Any]) -> None:
    """Frees what a studio held, in the thread that made it."""
    draw_later(lambda: [canvas.free() for canvas in canvases])


def _give_all_back() -> None:
    """The same of all studios, where the process ends."""
    for studio in _DRAWING:
        for canvas in studio.canvases:
            canvas.free()


def _model(mujoco: Any, looks: Sequence[tuple[Shaded, Look, int]]) -> Any:
    """A model whose geoms are so many of each look, in order."""
    spec = mujoco.MjSpec()
    # lengths below are in meters, whatever the size of the world
    spec.stat.extent = 1.0
    spec.visual.headlight.ambient = [AMBIENT] * 3
    spec.visual.headlight.diffuse = spec.visual.headlight.specular = [0.0] * 3
    spec.worldbody.add_light(
        type=mujoco.mjtLightType.mjLIGHT_DIRECTIONAL,
        dir=LIGHT_WORLD,
        ambient=[0.0] * 3,
        diffuse=[DIFFUSE] * 3,
        specular=[SPECULAR] * 3,
        castshadow=True,
    )
    spec.add_texture(
        name="sky",
        type=mujoco.mjtTexture.mjTEXTURE_SKYBOX,
        width=SKY_PIXELS,
        height=6 * SKY_PIXELS,
        nchannel=3,
    ).data = _sky().tobytes()
    for number, (mesh, look, count) in enumerate(looks):
        _add_look(mujoco, spec, f"look {number}", mesh, look, count)
    return spec.compile()


def _add_look(mujoco: Any, spec: Any, name: str, mesh: Shaded, look: Look, count: int) -> None:
    numbers = np.arange(3 * len(mesh.corners_m), dtype=np.int32)
    spec.add_mesh(
        name=name,
        uservert=mesh.corners_m.ravel(),
        usernormal=mesh.normals.ravel(),
        userface=numbers,
        userfacenormal=numbers,
        # of what is open or flat; the shape is drawn as it is
        inertia=mujoco.mjtMeshInertia.mjMESH_INERTIA_SHELL,
    )
    material = spec.add_material(name=name)
    material.rgba = [*np.array(look.rgb) / 255.0, look.opacity]
    material.specular, material.shininess, material.reflectance = SPECULAR, SHININESS, 0.0
    for _ in range(count):
        spec.worldbody.add_geom(
            type=mujoco.mjtGeom.mjGEOM_MESH,
            meshname=name,
            material=name,
            contype=0,
            conaffinity=0,
        )


def _shades(look: Look) -> bool:
    """Whether something has a shadow: the ground and what is clear have none."""
    return look.opacity >= CLEAR and float(np.ptp(look.vertices_m[:, 2])) > 0.0


def _sky() -> UInt8[np.ndarray, "rows columns 3"]:
    """The six faces of a cube one below the other: right, left, up, down, front and back."""
    across = (np.arange(SKY_PIXELS) + 0.5) / SKY_PIXELS * 2.0 - 1.0
    u, v = np.meshgrid(across, -across)
    side = np.arctan2(v, np.hypot(1.0, u))
    above = np.arctan2(1.0, np.hypot(u, v))
    elevation = np.concatenate([side, side, above, -above, side, side])
    clear = 1.0 - np.exp(-np.maximum(elevation, 0.0) / HAZE_RAD)
    horizon, zenith = np.array(HORIZON_RGB, float), np.array(ZENITH_RGB, float)
    return (horizon + clear[..., None] * (zenith - horizon)).round().astype(np.uint8)


def _thinned(lines: Sequence[Polyline], pixel_m: float) -> list[Float64[np.ndarray, "points 3"]]:
    """The points of lines, so far apart that each segment can be seen and there is room for all."""
    known = [line.points_world_m[np.isfinite(line.points_world_m).all(axis=1)] for line in lines]
    ways = [_way_m(points) for points in known]
    room = max(1, MOST_SEGMENTS - 2 * len(lines))
    step_m = max(SEGMENT_PIXELS * pixel_m, sum(float(way[-1]) for way in ways if len(way)) / room)
    # which points are the first ones of a further step
    begin = [np.diff(np.floor(way / step_m), prepend=-1.0) > 0.0 for way in ways]
    for kept in begin:
        kept[-1:] = True
    return [points[kept].astype(float) for points, kept in zip(known, begin, strict=True)]


def _line_rgba(line: Polyline) -> Float32[np.ndarray, "4"]:
    """So that a line has its color though MuJoCo draws it twice, for the light and for its shadow.

    One that hides what is behind is added to itself, one that does not hides it twice.
    """
    rgb = np.array(line.rgb) / 255.0
    if line.opacity >= 1.0:
        return np.array([*(0.5 * rgb), 1.0], np.float32)
    return np.array([*rgb, 1.0 - np.sqrt(1.0 - line.opacity)], np.float32)


def _way_m(points_m: np.ndarray) -> Float64[np.ndarray, " points"]:
    """How long a line is up to each of its points."""
    steps_m = np.linalg.norm(np.diff(points_m, axis=0), axis=1)
    return np.cumsum(np.concatenate([np.zeros(min(1, len(points_m))), steps_m]))


def _matrices(attitudes: Float[np.ndarray, "n 4"]) -> Float64[np.ndarray, "n 3 3"]:
    """Rotation matrices of quaternions."""
    w, x, y, z = (attitudes / np.linalg.norm(attitudes, axis=1)[:, None]).astype(float).T
    rows = [
        [1.0 - 2.0 * (y * y + z * z), 2.0 * (x * y - w * z), 2.0 * (x * z + w * y)],
        [2.0 * (x * y + w * z), 1.0 - 2.0 * (x * x + z * z), 2.0 * (y * z - w * x)],
        [2.0 * (x * z - w * y), 2.0 * (y * z + w * x), 1.0 - 2.0 * (x * x + y * y)],
    ]
    return np.moveaxis(np.array(rows), -1, 0)
