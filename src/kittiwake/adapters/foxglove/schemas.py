"""JSON schemas of the messages of Foxglove that an export has, by Foxglove's names."""

from typing import Any

Schema = dict[str, Any]

NUMBER: Schema = {"type": "number"}
INTEGER: Schema = {"type": "integer"}
TEXT: Schema = {"type": "string"}
BYTES: Schema = {"type": "string", "contentEncoding": "base64"}


def _record(**fields: Schema) -> Schema:
    return {"type": "object", "properties": fields}


def _list(items: Schema) -> Schema:
    return {"type": "array", "items": items}


TIME = _record(sec=INTEGER, nsec=INTEGER)
VECTOR = _record(x=NUMBER, y=NUMBER, z=NUMBER)
QUATERNION = _record(x=NUMBER, y=NUMBER, z=NUMBER, w=NUMBER)
POSE = _record(position=VECTOR, orientation=QUATERNION)
COLOR = _record(r=NUMBER, g=NUMBER, b=NUMBER, a=NUMBER)
TRANSFORM = _record(
    timestamp=TIME,
    parent_frame_id=TEXT,
    child_frame_id=TEXT,
    translation=VECTOR,
    rotation=QUATERNION,
)
LINE = _record(
    type=INTEGER,
    pose=POSE,
    thickness=NUMBER,
    scale_invariant={"type": "boolean"},
    points=_list(VECTOR),
    color=COLOR,
    colors=_list(COLOR),
    indices=_list(INTEGER),
)
TRIANGLES = _record(
    pose=POSE, points=_list(VECTOR), color=COLOR, colors=_list(COLOR), indices=_list(INTEGER)
)
ENTITY = _record(
    timestamp=TIME,
    frame_id=TEXT,
    id=TEXT,
    lifetime=TIME,
    frame_locked={"type": "boolean"},
    metadata=_list(_record(key=TEXT, value=TEXT)),
    lines=_list(LINE),
    triangles=_list(TRIANGLES),
    **{
        kind: _list(_record())
        for kind in ("arrows", "cubes", "spheres", "cylinders", "texts", "models")
    },
)

SCHEMAS: dict[str, Schema] = {
    "foxglove.FrameTransforms": _record(transforms=_list(TRANSFORM)),
    "foxglove.PosesInFrame": _record(timestamp=TIME, frame_id=TEXT, poses=_list(POSE)),
    "foxglove.SceneUpdate": _record(
        deletions=_list(_record(timestamp=TIME, type=INTEGER, id=TEXT)), entities=_list(ENTITY)
    ),
    "foxglove.PointCloud": _record(
        timestamp=TIME,
        frame_id=TEXT,
        pose=POSE,
        point_stride=INTEGER,
        fields=_list(_record(name=TEXT, offset=INTEGER, type=INTEGER)),
        data=BYTES,
    ),
    "foxglove.LocationFix": _record(
        timestamp=TIME,
        frame_id=TEXT,
        latitude=NUMBER,
        longitude=NUMBER,
        altitude=NUMBER,
        position_covariance=_list(NUMBER),
        position_covariance_type=INTEGER,
    ),
}
