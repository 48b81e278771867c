"""Layer of the surveyed field: the water in the colors of its values."""

import numpy as np
from jaxtyping import UInt8

from kittiwake.cockpit.layer_options import Layer, Options
from kittiwake.cockpit.node_factory import NodeFactory, set_visible, update_node
from kittiwake.rendering.shapes import quads
from kittiwake.scene.scene_state import FlightInfo, SceneState
from kittiwake.scene.surveyed_field import surveyed_field
from kittiwake.scene.water import has_waves

# a drifting field is computed again after this time of the flight
INTERVAL_S = 10.0
# height above still water, against z-fighting
ABOVE_M = 0.03
LABEL_SCALE = 0.8
# viser takes the colors of instances as linear, and the light of the scene brightens them
GAMMA, BRIGHTNESS = 2.2, 1.6


def field_layer(nodes: NodeFactory, flight: FlightInfo, options: Options) -> list[Layer]:
    """Return the layer of the field; none in a world without fields, or with waves."""
    field = None if has_waves(flight) else surveyed_field(flight)
    if field is None:
        return []
    centers = field.centers_world_m
    half_m = 0.5 * field.cell_m
    corners = half_m * np.array([[[-1, -1, 0], [1, -1, 0], [1, 1, 0], [-1, 1, 0]]], float)
    count = len(centers)
    cells = nodes.batch(
        "field/cells", quads(corners).colored((0, 0, 0)), count, rgb=_instance_rgb(field.rgb(0.0))
    )
    cells.cast_shadow = False
    positions = np.column_stack([centers, np.full(count, ABOVE_M)])
    cells.batched_positions = positions.astype(np.float32)
    label = nodes.scene.add_label(
        f"{nodes.prefix}/field/label",
        field.text,
        position=(*centers[np.argmin(centers[:, 0] - centers[:, 1])], 1.0),
        font_screen_scale=LABEL_SCALE,
        anchor="bottom-center",
    )
    drawn_s = 0.0

    def draw(scene_state: SceneState) -> None:
        nonlocal drawn_s
        set_visible(cells, visible=options.field)
        set_visible(label, visible=options.field)
        if options.field and abs(scene_state.time_s - drawn_s) >= INTERVAL_S:
            drawn_s = scene_state.time_s
            update_node(cells, batched_colors=_instance_rgb(field.rgb(drawn_s)))

    return [draw]


def _instance_rgb(rgb: UInt8[np.ndarray, "cells 3"]) -> UInt8[np.ndarray, "cells 3"]:
    """Return the colors that instances need to be seen in these."""
    return (255.0 / BRIGHTNESS * (rgb / 255.0) ** GAMMA).round().astype(np.uint8)
