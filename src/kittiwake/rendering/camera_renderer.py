"""Offscreen camera renderer with MuJoCo; ``scene_builder`` builds the scene.

Each picture is rendered twice: colors with several samples per pixel, depth with one sample at the
pixel center. All rendering happens in one thread, to which the OpenGL context is bound.
"""

from collections.abc import Mapping
from math import atan, degrees, tan
from types import ModuleType
from weakref import WeakSet, finalize

import numpy as np
from jaxtyping import Bool
from typing_extensions import override

from kittiwake.core.extras import import_optional
from kittiwake.interfaces.renderer import (
    AbstractRenderer,
    BodyPoses,
    ImageFormat,
    RenderedImage,
    Viewpoint,
)
from kittiwake.interfaces.vehicle import AssembledVehicle
from kittiwake.physics.mujoco_model import MUJOCO, MujocoObject
from kittiwake.rendering.render_thread import EXTRA, draw, draw_later, start_graphics
from kittiwake.rendering.scene_builder import body_name, build_scene
from kittiwake.world.world import WorldModel

SAMPLES = 4
# capacity for scene geoms besides those of the model
EXTRA_GEOMS = 100
# geom group that is not drawn
HIDDEN = 5
# clipping planes along the optical axis
NEAR_M, FAR_M = 0.01, 1000.0
# pose of a body without a finite one, which is hidden
ORIGIN = np.array([0.0, 0.0, 0.0, 1.0, 0.0, 0.0, 0.0])


def mujoco_renderer(
    world: WorldModel, vehicles: Mapping[str, AssembledVehicle]
) -> AbstractRenderer:
    """Return a renderer of a world and its vehicles.

    Raises:
        MissingExtraError: if a rendering library is missing.
        ScenarioError: if there are more decks than tags.
    """
    start_graphics(_free_all)
    library = import_optional(MUJOCO, EXTRA)
    return MujocoRenderer(library, build_scene(library, world, vehicles))


class MujocoRenderer(AbstractRenderer):
    """Renderer of a world, with a MuJoCo context for each picture size."""

    def __init__(self, mujoco: ModuleType, model: MujocoObject) -> None:
        self.mujoco, self.model = mujoco, model
        self.data: MujocoObject = mujoco.MjData(model)
        names = map(body_name, range(model.nmocap))
        self.bodies = np.array([model.body(name).id for name in names], int)
        self.scene: MujocoObject = mujoco.MjvScene(model, model.ngeom + EXTRA_GEOMS)
        self.contexts: dict[tuple[int, int, int], MujocoObject] = {}
        _RENDERERS.add(self)
        finalize(self, _free, self.contexts).atexit = False

    @override
    def picture(self, frame: ImageFormat, viewpoint: Viewpoint, poses: BodyPoses) -> RenderedImage:
        return draw(lambda: self._render(frame, viewpoint, poses))

    def _render(self, frame: ImageFormat, viewpoint: Viewpoint, poses: BodyPoses) -> RenderedImage:
        camera_pose = (viewpoint.position_world_m, viewpoint.q_world_from_camera)
        if not all(np.isfinite(part).all() for part in camera_pose):
            return _empty_picture(frame)
        is_finite = np.asarray(np.isfinite(poses).all(axis=1))
        self._place(np.where(is_finite[:, None], poses, ORIGIN))
        self._hide(~is_finite | (np.arange(len(poses)) == viewpoint.own))
        self._aim(frame, viewpoint)
        rgb = np.empty((frame.height, frame.width, 3), np.uint8)
        self._draw(frame, SAMPLES, rgb, None)
        if not frame.with_depth:
            return RenderedImage(np.flipud(rgb), None)
        depth = np.empty((frame.height, frame.width), np.float32)
        self._draw(frame, 0, None, depth)
        return RenderedImage(np.flipud(rgb), np.flipud(_depth_m(depth)))

    def _place(self, places: np.ndarray) -> None:
        self.data.mocap_pos[:] = places[:, :3]
        self.data.mocap_quat[:] = places[:, 3:]
        self.mujoco.mj_kinematics(self.model, self.data)
        self.mujoco.mj_camlight(self.model, self.data)

    def _hide(self, hidden_bodies: Bool[np.ndarray, " bodies"]) -> None:
        hidden = np.isin(self.model.geom_bodyid, self.bodies[hidden_bodies])
        self.model.geom_group[:] = np.where(hidden, HIDDEN, 0)

    def _aim(self, frame: ImageFormat, viewpoint: Viewpoint) -> None:
        """Set the camera, which looks along x with z up; MuJoCo's looks along -z with y up."""
        rotation = np.empty(9)
        self.mujoco.mju_quat2Mat(rotation, viewpoint.q_world_from_camera.astype(float))
        forward, left, up = rotation.reshape(3, 3).T
        self.data.cam_xpos[0] = viewpoint.position_world_m
        self.data.cam_xmat[0] = np.stack([-left, up, -forward], axis=1).ravel()
        half = tan(0.5 * viewpoint.horizontal_field_of_view_rad) * frame.height / frame.width
        self.model.cam_fovy[0] = degrees(2.0 * atan(half))
        visual = self.model.vis.map
        visual.znear, visual.zfar = NEAR_M, FAR_M
        camera, options = self.mujoco.MjvCamera(), self.mujoco.MjvOption()
        camera.type, camera.fixedcamid = self.mujoco.mjtCamera.mjCAMERA_FIXED, 0
        flags = self.mujoco.mjtRndFlag
        for flag in (flags.mjRND_SHADOW, flags.mjRND_HAZE, flags.mjRND_REFLECTION):
            self.scene.flags[flag] = False
        everything = self.mujoco.mjtCatBit.mjCAT_ALL.value
        # the ground is drawn around the scene camera, which still is that of the last picture
        self.mujoco.mjv_updateCamera(self.model, self.data, camera, self.scene)
        arguments = (self.model, self.data, options, None, camera, everything)
        self.mujoco.mjv_updateScene(*arguments, self.scene)

    def _draw(
        self, frame: ImageFormat, samples: int, rgb: np.ndarray | None, depth: np.ndarray | None
    ) -> None:
        context = self._context(frame, samples)
        # the sky has no depth
        self.scene.flags[self.mujoco.mjtRndFlag.mjRND_SKYBOX] = depth is None
        area = self.mujoco.MjrRect(0, 0, frame.width, frame.height)
        self.mujoco.mjr_setBuffer(self.mujoco.mjtFramebuffer.mjFB_OFFSCREEN.value, context)
        self.mujoco.mjr_render(area, self.scene, context)
        self.mujoco.mjr_readPixels(rgb, depth, area, context)

    def _context(self, frame: ImageFormat, samples: int) -> MujocoObject:
        key = (frame.width, frame.height, samples)
        if key not in self.contexts:
            visual = self.model.vis
            visual.global_.offwidth, visual.global_.offheight = frame.width, frame.height
            visual.quality.offsamples = samples
            context = self.mujoco.MjrContext(self.model, self.mujoco.mjtFontScale.mjFONTSCALE_100)
            context.readDepthMap = self.mujoco.mjtDepthMap.mjDEPTH_ZEROFAR
            self.contexts[key] = context
        return self.contexts[key]


_RENDERERS: WeakSet[MujocoRenderer] = WeakSet()


def _free(contexts: dict[tuple[int, int, int], MujocoObject]) -> None:
    """Free the contexts of a renderer in the render thread."""
    draw_later(lambda: [context.free() for context in contexts.values()])


def _free_all() -> None:
    """Free the contexts of all renderers at the end of the process."""
    for renderer in _RENDERERS:
        for context in renderer.contexts.values():
            context.free()


def _empty_picture(frame: ImageFormat) -> RenderedImage:
    """Return the picture of a camera without a finite pose."""
    size = (frame.height, frame.width)
    depth = np.full(size, np.inf, np.float32) if frame.with_depth else None
    return RenderedImage(np.zeros((*size, 3), np.uint8), depth)


def _depth_m(buffer: np.ndarray) -> np.ndarray:
    """Return depths n f / (n + d (f - n)) for buffer values d: 1 at near n, 0 at far f."""
    depth = NEAR_M * FAR_M / (NEAR_M + buffer.astype(float) * (FAR_M - NEAR_M))
    return np.where(buffer > 0.0, depth, np.inf).astype(np.float32)
