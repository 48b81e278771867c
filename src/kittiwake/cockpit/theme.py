"""Light and dark theme: colors of the controls, of the sky and of the fog at the horizon."""

import numpy as np
import viser

from kittiwake.cockpit.browser_camera import far_m
from kittiwake.scene.scene_state import FlightInfo

BRAND_RGB = (36, 96, 140)
LIGHT, DARK = "light", "dark"
# colors at the top and at the horizon
SKY_RGB = {
    LIGHT: ((168, 203, 232), (232, 240, 246)),
    DARK: ((16, 22, 34), (52, 62, 78)),
}
# strength and lower color of the light from everywhere
AMBIENT = {LIGHT: (1.9, (150, 150, 140)), DARK: (2.0, (150, 155, 165))}
SKY_PIXELS = (360, 640)
# share of the picture's height from the top at which the sky is palest
HORIZON_SHARE = 0.4
# begin of the fog, which ends with the ground, relative to the largest visible distance
FOG_BEGIN = 0.25


def configure_controls(gui: viser.GuiApi, theme: str) -> None:
    """Show controls in a theme; those of one browser, or of all."""
    gui.configure_theme(
        control_width="large",
        dark_mode=theme == DARK,
        show_logo=False,
        # sharing would relay the page through a server on the internet
        show_share_button=False,
        brand_color=BRAND_RGB,
    )


def configure_sky(scene: viser.SceneApi, flight: FlightInfo, theme: str) -> None:
    """Show sky, light and horizon in a theme; those of one browser, or of all."""
    top, horizon = SKY_RGB[theme]
    rows, columns = SKY_PIXELS
    share = np.minimum(np.linspace(0.0, 1.0 / HORIZON_SHARE, rows), 1.0)[:, None, None]
    sky = np.array(top) * (1.0 - share) + np.array(horizon) * share
    picture = np.broadcast_to(sky, (rows, columns, 3)).astype(np.uint8)
    scene.set_background_image(np.ascontiguousarray(picture))
    # viser's default indoor environment map would brighten everything
    scene.configure_environment_map(None)
    intensity, ground_rgb = AMBIENT[theme]
    scene.add_light_hemisphere(
        "/light", sky_color=(255, 255, 255), ground_color=ground_rgb, intensity=intensity
    )
    # the sun, with its shadows
    scene.configure_default_lights(enabled=theme == LIGHT)
    end_m = far_m(flight)
    scene.configure_fog(FOG_BEGIN * end_m, end_m, color=horizon)
