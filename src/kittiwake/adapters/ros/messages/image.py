"""Pictures, depths and the points that they show, and the geometry of the camera beside them.

A depth image has depths along the optical axis in meters as 32FC1, and infinity where nothing was
seen, as REP 118 has it. Images are told in the axes of the picture, points in those of the camera.
"""

from math import tan
from typing import Any

import numpy as np

from kittiwake.adapters.ros.messages.plain import PlainMessage, header
from kittiwake.adapters.ros.messages.sensor_frames import OPTICAL, MountedSensor
from kittiwake.adapters.ros.messages.topic import Row, Topic
from kittiwake.sensors.camera import COLORS, WHITE, Camera
from kittiwake.sensors.range_camera import RangeCamera

IMAGE, POINT_CLOUD = "sensor_msgs/Image", "sensor_msgs/PointCloud2"
CAMERA_INFO = "sensor_msgs/CameraInfo"
UNTURNED = (1.0, 0.0, 0.0, 0.0, 1.0, 0.0, 0.0, 0.0, 1.0)
FLOAT32, FLOAT_BYTES = 7, 4


def picture_topics(carried: MountedSensor) -> list[Topic]:
    """Of a camera: its picture and geometry, and its depths if it tells them."""
    camera = carried.sensor
    assert isinstance(camera, Camera)
    size = (camera.height, camera.width)
    color, frame = carried.array("color", *size, COLORS), carried.part(OPTICAL)

    def picture(row: Row, ns: int) -> PlainMessage:
        pixels = np.rint(row[color] * WHITE).astype(np.uint8)
        return _image(ns, frame, "rgb8", pixels.reshape(*size, COLORS))

    told = [Topic(f"{carried.name}/image_raw", IMAGE, picture)]
    return told + (depth_topics(carried) if camera.depth else [_geometry(carried)])


def depth_topics(carried: MountedSensor) -> list[Topic]:
    """Of what tells depths: an image, the points in space, and its geometry."""
    camera = carried.sensor
    assert isinstance(camera, Camera | RangeCamera)
    size = (camera.height, camera.width)
    depth, valid = carried.array("depth_m", *size), carried.array("valid", *size)
    rays = _rays(camera)
    along_ray = isinstance(camera, RangeCamera) and camera.along == "ray"
    share = 1.0 / np.linalg.norm(rays, axis=1) if along_ray else np.ones(len(rays))

    def depths_m(row: Row) -> Any:
        return np.where(row[valid] > 0.0, row[depth] * share, np.inf)

    def image(row: Row, ns: int) -> PlainMessage:
        pixels = depths_m(row).astype("<f4").reshape(size)
        return _image(ns, carried.part(OPTICAL), "32FC1", pixels)

    def points(row: Row, ns: int) -> PlainMessage:
        far = depths_m(row)
        there = np.where(np.isfinite(far), far, np.nan)[:, None] * rays
        return point_cloud(ns, carried.frame, there, size)

    name = carried.name
    return [
        Topic(f"{name}/depth", IMAGE, image),
        Topic(f"{name}/points", POINT_CLOUD, points),
        _geometry(carried),
    ]


def point_cloud(ns: int, frame: str, points_m: Any, size: tuple[int, int]) -> PlainMessage:
    """``sensor_msgs/PointCloud2`` of so many rows and columns; NaN where there is no point."""
    rows, columns = size
    return {
        "header": header(ns, frame),
        "height": rows,
        "width": columns,
        "fields": [
            {"name": axis, "offset": FLOAT_BYTES * i, "datatype": FLOAT32, "count": 1}
            for i, axis in enumerate("xyz")
        ],
        "is_bigendian": False,
        "point_step": 3 * FLOAT_BYTES,
        "row_step": 3 * FLOAT_BYTES * columns,
        "data": np.ascontiguousarray(points_m, "<f4").tobytes(),
        "is_dense": False,
    }


def _image(ns: int, frame: str, encoding: str, pixels: Any) -> PlainMessage:
    return {
        "header": header(ns, frame),
        "height": pixels.shape[0],
        "width": pixels.shape[1],
        "encoding": encoding,
        "is_bigendian": 0,
        "step": pixels.strides[0],
        "data": pixels.tobytes(),
    }


def _geometry(carried: MountedSensor) -> Topic:
    """``sensor_msgs/CameraInfo``: a pinhole without distortion; pixels count at their middles."""
    camera = carried.sensor
    assert isinstance(camera, Camera | RangeCamera)
    focal, frame = _focal_length(camera), carried.part(OPTICAL)
    middle = 0.5 * (camera.width - 1), 0.5 * (camera.height - 1)
    above = [[focal, 0.0, middle[0]], [0.0, focal, middle[1]], [0.0, 0.0, 1.0]]
    fixed = {
        "height": camera.height,
        "width": camera.width,
        "distortion_model": "plumb_bob",
        "d": [0.0] * 5,
        "k": [number for row in above for number in row],
        "r": list(UNTURNED),
        "p": [number for row in above for number in (*row, 0.0)],
    }

    def info(_: Row, ns: int) -> PlainMessage:
        return {"header": header(ns, frame), **fixed}

    return Topic(f"{carried.name}/camera_info", CAMERA_INFO, info)


def _focal_length(camera: Camera | RangeCamera) -> float:
    """In pixels."""
    return 0.5 * camera.width / tan(0.5 * float(camera.horizontal_field_of_view_rad))


def _rays(camera: Camera | RangeCamera) -> Any:
    """Through the pixels, row by row, to a meter along the optical axis: x ahead, y to the left."""
    focal = _focal_length(camera)
    left = (0.5 * camera.width - np.arange(camera.width) - 0.5) / focal
    up = (0.5 * camera.height - np.arange(camera.height) - 0.5) / focal
    aside, above = np.meshgrid(left, up)
    return np.column_stack([np.ones(aside.size), aside.ravel(), above.ravel()])
