"""Offscreen renderer with MuJoCo: meshes at poses, with light, shadows and a sky.

All meshes are geoms of one static body. Geom poses are written into MuJoCo's results for each
picture; nothing is simulated. Deformable meshes get new vertices. Lines are added to the scene
afterwards.
"""

from collections.abc import Sequence
from concurrent.futures import Future
from itertools import pairwise
from math import atan2, degrees
from types import ModuleType
from typing import NamedTuple
from weakref import WeakSet, finalize

import numpy as np
from jaxtyping import Float, Float32, Float64, UInt8

from kittiwake.core.extras import import_optional
from kittiwake.physics.mujoco_model import MUJOCO, MujocoObject
from kittiwake.rendering.colored_mesh import ColoredMesh
from kittiwake.rendering.render_thread import draw_later, start_graphics
from kittiwake.rendering.shaded_mesh import ShadedMesh, deformable, shade
from kittiwake.rendering.view import View

EXTRA = "film"
SAMPLES = 4
SHADOW_PIXELS = 2048
# line segments in one picture; longer lines are thinned
MAX_SEGMENTS = 6000
# shorter segments would not be drawn
SEGMENT_PIXELS = 1.5
HIDDEN = 5
# pose of an instance without a finite one, which is hidden
ORIGIN = np.array([0.0, 0.0, 0.0, 1.0, 0.0, 0.0, 0.0])
# relative to the distance from eye to target: clipping planes, size of the shadow map, and height
# of the light
NEAR, FAR, SHADOWS, ABOVE = 0.02, 2000.0, 1.0, 2.0
LIGHT_WORLD = (0.45, -0.6, -1.0)
# chosen so that horizontal surfaces have their own color
AMBIENT, DIFFUSE, SPECULAR = 0.6, 0.5, 0.15
SHININESS = 0.4
# the sky at the horizon has the color of distant objects
HORIZON_RGB, ZENITH_RGB, HAZE_RAD = (228, 236, 243), (92, 148, 214), 0.3
SKY_PIXELS = 256
# more transparent meshes cast no shadow
SHADOW_OPACITY = 0.5

Poses = tuple[Float[np.ndarray, "_ 3"], Float[np.ndarray, "_ 4"]]


class Polyline(NamedTuple):
    """Line through points."""

    points_world_m: Float[np.ndarray, "points 3"]
    rgb: tuple[int, int, int]
    width_px: float = 2.0
    opacity: float = 1.0


class OffscreenRenderer:
    """Renderer of instances of meshes and of static meshes, in pictures of one size.

    ``changing`` are meshes in world axes with new vertices in each picture; ``samples`` is their
    number in a pixel, for smooth edges.

    Raises:
        MissingExtraError: if a rendering library is missing.
    """

    def __init__(
        self,
        meshes: Sequence[tuple[ColoredMesh, int]],
        fixed: Sequence[ColoredMesh],
        width: int,
        height: int,
        changing: Sequence[ColoredMesh] = (),
        samples: int = SAMPLES,
    ) -> None:
        start_graphics(_free_all, EXTRA)
        self.mujoco: ModuleType = import_optional(MUJOCO, EXTRA)
        self.width, self.height, self.samples = width, height, samples
        self.resting = len(fixed)
        self.faces = [mesh.faces for mesh in changing]
        still = [(shade(mesh), mesh, 1) for mesh in fixed]
        moved = [(shade(mesh), mesh, count) for mesh, count in meshes]
        deformable_meshes = [
            (deformable(mesh.vertices_m, mesh.faces), mesh, 1) for mesh in changing
        ]
        self.model: MujocoObject = _model(self.mujoco, [*still, *moved, *deformable_meshes])
        self.data: MujocoObject = self.mujoco.MjData(self.model)
        self.shadowless = np.concatenate(
            [
                np.array([not _casts_shadow(mesh) for mesh in fixed], bool),
                *(np.full(count, not _casts_shadow(mesh)) for mesh, count in meshes),
                np.ones(len(changing), bool),
            ]
        )
        geom_meshes = self.model.geom_dataid
        # MuJoCo's transformation of the meshes to their principal axes
        self.shift_m: np.ndarray = self.model.mesh_pos[geom_meshes]
        self.turn = _matrices(self.model.mesh_quat[geom_meshes])
        if changing:
            # new vertices are written without the transformation
            self.shift_m[-len(changing) :], self.turn[-len(changing) :] = 0.0, np.eye(3)
        self.scene: MujocoObject = self.mujoco.MjvScene(self.model, self.model.ngeom + MAX_SEGMENTS)
        self.contexts: list[MujocoObject] = []
        _RENDERERS.add(self)
        finalize(self, _free, self.contexts).atexit = False

    def picture(
        self,
        poses: Sequence[Poses],
        lines: Sequence[Polyline],
        view: View,
        shapes: Sequence[Float[np.ndarray, "_ 3"]] = (),
    ) -> UInt8[np.ndarray, "height width 3"]:
        """Render a picture in the render thread; instances without a finite pose are hidden.

        Args:
            poses: positions and quaternions (w, x, y, z) of the instances of each mesh.
            lines: lines in world axes.
            view: camera view.
            shapes: vertices of each changing mesh in world axes.
        """
        return self.picture_later(poses, lines, view, shapes).result()

    def picture_later(
        self,
        poses: Sequence[Poses],
        lines: Sequence[Polyline],
        view: View,
        shapes: Sequence[Float[np.ndarray, "_ 3"]] = (),
    ) -> "Future[UInt8[np.ndarray, 'height width 3']]":
        """Return a future of a picture, with the arguments of ``picture``."""
        return draw_later(lambda: self._render(poses, lines, view, shapes))

    def _render(
        self,
        poses: Sequence[Poses],
        lines: Sequence[Polyline],
        view: View,
        shapes: Sequence[np.ndarray],
    ) -> np.ndarray:
        context = self._context()
        self._place(poses)
        self._deform(shapes, context)
        self._aim(view, context)
        self._add(lines, view)
        rgb = np.empty((self.height, self.width, 3), np.uint8)
        area = self.mujoco.MjrRect(0, 0, self.width, self.height)
        self.mujoco.mjr_setBuffer(self.mujoco.mjtFramebuffer.mjFB_OFFSCREEN.value, context)
        self.mujoco.mjr_render(area, self.scene, context)
        self.mujoco.mjr_readPixels(rgb, None, area, context)
        return np.flipud(rgb)

    def _place(self, poses: Sequence[Poses]) -> None:
        still = np.tile(ORIGIN, (self.resting, 1))
        moved = [np.concatenate(pose, axis=1) for pose in poses]
        all_poses = np.concatenate([still, *moved, np.tile(ORIGIN, (len(self.faces), 1))])
        is_finite = np.asarray(np.isfinite(all_poses).all(axis=1))
        positions_m, quaternions = np.split(
            np.where(is_finite[:, None], all_poses, ORIGIN), [3], axis=1
        )
        rotations = _matrices(quaternions)
        self.data.geom_xpos[:] = positions_m + np.einsum("nij,nj->ni", rotations, self.shift_m)
        self.data.geom_xmat[:] = (rotations @ self.turn).reshape(-1, 9)
        self.model.geom_group[:] = np.where(is_finite, 0, HIDDEN)

    def _deform(self, shapes: Sequence[np.ndarray], context: MujocoObject) -> None:
        model, first = self.model, self.model.nmesh - len(self.faces)
        for mesh, (faces, vertices) in enumerate(zip(self.faces, shapes, strict=True), first):
            deformed = deformable(vertices, faces)
            at, count = model.mesh_vertadr[mesh], model.mesh_vertnum[mesh]
            model.mesh_vert[at : at + count] = deformed.corners_m.reshape(-1, 3)
            at, count = model.mesh_normaladr[mesh], model.mesh_normalnum[mesh]
            model.mesh_normal[at : at + count] = deformed.normals.reshape(-1, 3)
            self.mujoco.mjr_uploadMesh(model, context, mesh)

    def _aim(self, view: View, context: MujocoObject) -> None:
        ahead, far = view.axes[2], view.distance_m
        camera = self.mujoco.MjvCamera()
        camera.lookat, camera.distance = view.look_at_world_m, far
        camera.azimuth = degrees(atan2(ahead[1], ahead[0]))
        camera.elevation = degrees(atan2(ahead[2], np.hypot(ahead[0], ahead[1])))
        visual = self.model.vis
        visual.global_.fovy = degrees(view.height_rad)
        visual.map.znear, visual.map.zfar = NEAR * far, FAR * far
        # objects above the light, or outside of the square shadow map, cast no shadow
        light = np.array(LIGHT_WORLD) / np.linalg.norm(LIGHT_WORLD)
        self.data.light_xpos[:] = view.look_at_world_m - ABOVE * far * light
        self.data.light_xdir[:] = light
        context.shadowClip = SHADOWS * far
        options = self.mujoco.MjvOption()
        # the sky is drawn around the scene camera, which still is that of the last picture
        self.mujoco.mjv_updateCamera(self.model, self.data, camera, self.scene)
        everything = self.mujoco.mjtCatBit.mjCAT_ALL.value
        arguments = (self.model, self.data, options, None, camera, everything)
        self.mujoco.mjv_updateScene(*arguments, self.scene)
        shown = np.flatnonzero(self.model.geom_group == 0)
        for index in np.flatnonzero(self.shadowless[shown]).tolist():
            self.scene.geoms[index].castshadow = 0

    def _add(self, lines: Sequence[Polyline], view: View) -> None:
        """Add a geom to the scene for each segment of the lines."""
        geom_type, zeros, still = self.mujoco.mjtGeom.mjGEOM_LINE, np.zeros(3), np.eye(3).ravel()
        pixel_m = view.distance_m * view.height_rad / self.height
        for line, points_m in zip(lines, _thinned(lines, pixel_m), strict=True):
            rgba = _line_rgba(line)
            for one, other in pairwise(points_m):
                geom = self.scene.geoms[self.scene.ngeom]
                self.mujoco.mjv_initGeom(geom, geom_type, zeros, zeros, still, rgba)
                self.mujoco.mjv_connector(geom, geom_type, line.width_px, one, other)
                geom.category = self.mujoco.mjtCatBit.mjCAT_DECOR.value
                self.scene.ngeom += 1

    def _context(self) -> MujocoObject:
        if not self.contexts:
            visual = self.model.vis
            visual.global_.offwidth, visual.global_.offheight = self.width, self.height
            visual.quality.offsamples, visual.quality.shadowsize = self.samples, SHADOW_PIXELS
            self.contexts.append(
                self.mujoco.MjrContext(self.model, self.mujoco.mjtFontScale.mjFONTSCALE_100)
            )
        return self.contexts[0]


_RENDERERS: WeakSet[OffscreenRenderer] = WeakSet()


def _free(contexts: list[MujocoObject]) -> None:
    """Free the contexts of a renderer in the render thread."""
    draw_later(lambda: [context.free() for context in contexts])


def _free_all() -> None:
    """Free the contexts of all renderers at the end of the process."""
    for renderer in _RENDERERS:
        for context in renderer.contexts:
            context.free()


def _model(
    mujoco: ModuleType, meshes: Sequence[tuple[ShadedMesh, ColoredMesh, int]]
) -> MujocoObject:
    """Return a model whose geoms are the instances of each mesh, in order."""
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
    for index, (shaded, mesh, count) in enumerate(meshes):
        _add_mesh(mujoco, spec, f"mesh {index}", shaded, mesh, count)
    return spec.compile()


def _add_mesh(
    mujoco: ModuleType,
    spec: MujocoObject,
    name: str,
    shaded: ShadedMesh,
    mesh: ColoredMesh,
    count: int,
) -> None:
    numbers = np.arange(3 * len(shaded.corners_m), dtype=np.int32)
    spec.add_mesh(
        name=name,
        uservert=shaded.corners_m.ravel(),
        usernormal=shaded.normals.ravel(),
        userface=numbers,
        userfacenormal=numbers,
        # open and flat meshes have no volume
        inertia=mujoco.mjtMeshInertia.mjMESH_INERTIA_SHELL,
    )
    material = spec.add_material(name=name)
    material.rgba = [*np.array(mesh.rgb) / 255.0, mesh.opacity]
    material.specular, material.shininess, material.reflectance = SPECULAR, SHININESS, 0.0
    for _ in range(count):
        spec.worldbody.add_geom(
            type=mujoco.mjtGeom.mjGEOM_MESH,
            meshname=name,
            material=name,
            contype=0,
            conaffinity=0,
        )


def _casts_shadow(mesh: ColoredMesh) -> bool:
    """Return True if a mesh casts a shadow; flat ground and transparent meshes do not."""
    return mesh.opacity >= SHADOW_OPACITY and float(np.ptp(mesh.vertices_m[:, 2])) > 0.0


def _sky() -> UInt8[np.ndarray, "rows columns 3"]:
    """Return the cube map, faces in a column: right, left, up, down, front and back."""
    across = (np.arange(SKY_PIXELS) + 0.5) / SKY_PIXELS * 2.0 - 1.0
    u, v = np.meshgrid(across, -across)
    side = np.arctan2(v, np.hypot(1.0, u))
    above = np.arctan2(1.0, np.hypot(u, v))
    elevation = np.concatenate([side, side, above, -above, side, side])
    clear = 1.0 - np.exp(-np.maximum(elevation, 0.0) / HAZE_RAD)
    horizon, zenith = np.array(HORIZON_RGB, float), np.array(ZENITH_RGB, float)
    return (horizon + clear[..., None] * (zenith - horizon)).round().astype(np.uint8)


def _thinned(lines: Sequence[Polyline], pixel_m: float) -> list[Float64[np.ndarray, "points 3"]]:
    """Return thinned points of lines, with visible segments and at most ``MAX_SEGMENTS``."""
    finite = [line.points_world_m[np.isfinite(line.points_world_m).all(axis=1)] for line in lines]
    lengths = [_arc_length_m(points) for points in finite]
    capacity = max(1, MAX_SEGMENTS - 2 * len(lines))
    step_m = max(
        SEGMENT_PIXELS * pixel_m,
        sum(float(length[-1]) for length in lengths if len(length)) / capacity,
    )
    # keep the first point of each step
    keep = [np.diff(np.floor(length / step_m), prepend=-1.0) > 0.0 for length in lengths]
    for mask in keep:
        mask[-1:] = True
    return [points[mask].astype(float) for points, mask in zip(finite, keep, strict=True)]


def _line_rgba(line: Polyline) -> Float32[np.ndarray, "4"]:
    """Return the color of a line, corrected for MuJoCo drawing it twice (light and shadow passes).

    The colors of an opaque line are added; a translucent line is blended twice.
    """
    rgb = np.array(line.rgb) / 255.0
    if line.opacity >= 1.0:
        return np.array([*(0.5 * rgb), 1.0], np.float32)
    return np.array([*rgb, 1.0 - np.sqrt(1.0 - line.opacity)], np.float32)


def _arc_length_m(points_m: np.ndarray) -> Float64[np.ndarray, " points"]:
    """Return the arc length of a line at each of its points."""
    steps_m = np.linalg.norm(np.diff(points_m, axis=0), axis=1)
    return np.cumsum(np.concatenate([np.zeros(min(1, len(points_m))), steps_m]))


def _matrices(quaternions: Float[np.ndarray, "n 4"]) -> Float64[np.ndarray, "n 3 3"]:
    """Return the rotation matrices of quaternions."""
    w, x, y, z = (quaternions / np.linalg.norm(quaternions, axis=1)[:, None]).astype(float).T
    rows = [
        [1.0 - 2.0 * (y * y + z * z), 2.0 * (x * y - w * z), 2.0 * (x * z + w * y)],
        [2.0 * (x * y + w * z), 1.0 - 2.0 * (x * x + z * z), 2.0 * (y * z - w * x)],
        [2.0 * (x * z - w * y), 2.0 * (y * z + w * x), 1.0 - 2.0 * (x * x + y * y)],
    ]
    return np.moveaxis(np.array(rows), -1, 0)
