"""Pictures of a world, drawn by MuJoCo without a screen; ``mujoco_painting`` says what is seen.

They are drawn twice: the colors with several samples a pixel, the depth with one, in the pixel's
middle. All drawing happens in one thread, to which the graphics library is bound.
"""

from collections.abc import Mapping
from math import atan, degrees, tan
from typing import Any
from weakref import WeakSet, finalize

import numpy as np
from jaxtyping import Bool
from typing_extensions import override

from kittiwake.core.extras import optional
from kittiwake.interfaces.renderer import AbstractRenderer, ImageFormat, Picture, Places, Shot
from kittiwake.interfaces.vehicle import Vehicle
from kittiwake.physics.mujoco_model import MUJOCO
from kittiwake.rendering.render_thread import EXTRA, begin_graphics, draw, draw_later
from kittiwake.rendering.scene_builder import body_name, build_scene
from kittiwake.world.world import World

SAMPLES = 4
# what else there is in a scene than the model's geoms
MORE_GEOMS = 100
# of the geoms that are not drawn
HIDDEN = 5
# along the optical axis
NEAR_M, FAR_M = 0.01, 1000.0
# of a body that is nowhere
ORIGIN = np.array([0.0, 0.0, 0.0, 1.0, 0.0, 0.0, 0.0])


def mujoco_renderer(world: World, vehicles: Mapping[str, Vehicle]) -> AbstractRenderer:
    """Draws a world and its vehicles.

    Raises:
        MissingExtraError: without the libraries that it draws with.
        ScenarioError: if there are more decks than tags.
    """
    begin_graphics(_give_all_back)
    library = optional(MUJOCO, EXTRA)
    return MujocoRenderer(library, build_scene(library, world, vehicles))


class MujocoRenderer(AbstractRenderer):
    """A model of the world, and what was set up to draw it at each size."""

    def __init__(self, mujoco: Any, model: Any) -> None:
        self.mujoco, self.model = mujoco, model
        self.data: Any = mujoco.MjData(model)
        names = map(body_name, range(model.nmocap))
        self.bodies = np.array([model.body(name).id for name in names], int)
        self.scene: Any = mujoco.MjvScene(model, model.ngeom + MORE_GEOMS)
        self.canvases: dict[tuple[int, int, int], Any] = {}
        _DRAWING.add(self)
        finalize(self, _give_back, self.canvases).atexit = False

    @override
    def picture(self, frame: ImageFormat, shot: Shot, places: Places) -> Picture:
        return draw(lambda: self._drawn(frame, shot, places))

    def _drawn(self, frame: ImageFormat, shot: Shot, places: Places) -> Picture:
        taken_from = (shot.position_world_m, shot.q_world_from_camera)
        if not all(np.isfinite(part).all() for part in taken_from):
            return _nothing(frame)
        somewhere = np.asarray(np.isfinite(places).all(axis=1))
        self._place(np.where(somewhere[:, None], places, ORIGIN))
        self._hide(~somewhere | (np.arange(len(places)) == shot.own))
        self._aim(frame, shot)
        rgb = np.empty((frame.height, frame.width, 3), np.uint8)
        self._draw(frame, SAMPLES, rgb, None)
        if not frame.deep:
            return Picture(np.flipud(rgb), None)
        depth = np.empty((frame.height, frame.width), np.float32)
        self._draw(frame, 0, None, depth)
        return Picture(np.flipud(rgb), np.flipud(_depth_m(depth)))

    def _place(self, places: np.ndarray) -> None:
        self.data.mocap_pos[:] = places[:, :3]
        self.data.mocap_quat[:] = places[:, 3:]
        self.mujoco.mj_kinematics(self.model, self.data)
        self.mujoco.mj_camlight(self.model, self.data)

    def _hide(self, unseen: Bool[np.ndarray, " bodies"]) -> None:
        hidden = np.isin(self.model.geom_bodyid, self.bodies[unseen])
        self.model.geom_group[:] = np.where(hidden, HIDDEN, 0)

    def _aim(self, frame: ImageFormat, shot: Shot) -> None:
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
        camera, options = self.mujoco.MjvCamera(), self.mujoco.MjvOption()
        camera.type, camera.fixedcamid = self.mujoco.mjtCamera.mjCAMERA_FIXED, 0
        flags = self.mujoco.mjtRndFlag
        for unwanted in (flags.mjRND_SHADOW, flags.mjRND_HAZE, flags.mjRND_REFLECTION):
            self.scene.flags[unwanted] = False
        everything = self.mujoco.mjtCatBit.mjCAT_ALL.value
        # the ground is drawn about the scene's camera, which else were that of the last picture
        self.mujoco.mjv_updateCamera(self.model, self.data, camera, self.scene)
        arguments = (self.model, self.data, options, None, camera, everything)
        self.mujoco.mjv_updateScene(*arguments, self.scene)

    def _draw(self, frame: ImageFormat, samples: int, rgb: Any, depth: Any) -> None:
        canvas = self._canvas(frame, samples)
        # the sky has no depth
        self.scene.flags[self.mujoco.mjtRndFlag.mjRND_SKYBOX] = depth is None
        area = self.mujoco.MjrRect(0, 0, frame.width, frame.height)
        self.mujoco.mjr_setBuffer(self.mujoco.mjtFramebuffer.mjFB_OFFSCREEN.value, canvas)
        self.mujoco.mjr_render(area, self.scene, canvas)
        self.mujoco.mjr_readPixels(rgb, depth, area, canvas)

    def _canvas(self, frame: ImageFormat, samples: int) -> Any:
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
    draw_later(lambda: [canvas.free() for canvas in canvases.values()])


def _give_all_back() -> None:
    """The same of all renderers, where the process ends."""
    for renderer in _DRAWING:
        for canvas in renderer.canvases.values():
            canvas.free()


def _nothing(frame: ImageFormat) -> Picture:
    """Of a camera that is nowhere."""
    size = (frame.height, frame.width)
    depth = np.full(size, np.inf, np.float32) if frame.deep else None
    return Picture(np.zeros((*size, 3), np.uint8), depth)


def _depth_m(buffer: np.ndarray) -> np.ndarray:
    """Of a buffer d that is 1 at the near plane n and 0 at the far one f: n f / (n + d (f - n))."""
    depth = NEAR_M * FAR_M / (NEAR_M + buffer.astype(float) * (FAR_M - NEAR_M))
    return np.where(buffer > 0.0, depth, np.inf).astype(np.float32)
