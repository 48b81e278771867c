"""Images, depth images, point clouds and camera parameters.

A depth image has depths along the optical axis in meters as 32FC1, and infinity for pixels without
a return (REP 118). Images are in the optical frame, points in the frame of the camera.
"""

import numpy as np
from jaxtyping import Float64

from kittiwake.adapters.ros.messages.plain import PlainMessage, header
from kittiwake.adapters.ros.messages.sensor_frames import OPTICAL, MountedSensor
from kittiwake.adapters.ros.messages.topic import Row, Topic
from kittiwake.interfaces.beam import FieldOfView
from kittiwake.sensors.camera import COLORS, WHITE

IMAGE, POINT_CLOUD = "sensor_msgs/Image", "sensor_msgs/PointCloud2"
CAMERA_INFO = "sensor_msgs/CameraInfo"
IDENTITY_MATRIX = (1.0, 0.0, 0.0, 0.0, 1.0, 0.0, 0.0, 0.0, 1.0)
FLOAT32, FLOAT_BYTES = 7, 4


def image_topics(mounted: MountedSensor) -> list[Topic]:
    """Return the image and camera parameters of a camera, and its depths if it measures them."""
    camera = _camera(mounted)
    size = (camera.height, camera.width)
    color, frame = mounted.array_columns("color", *size, COLORS), mounted.part_frame(OPTICAL)

    def image(row: Row, ns: int) -> PlainMessage:
        pixels = np.rint(row[color] * WHITE).astype(np.uint8)
        return _image(ns, frame, "rgb8", pixels.reshape(*size, COLORS))

    topics = [Topic(f"{mounted.name}/image_raw", IMAGE, image)]
    with_depth = f"{mounted.prefix}depth_0_0_m" in mounted.column_index
    return topics + (depth_topics(mounted) if with_depth else [_camera_info(mounted)])


def depth_topics(mounted: MountedSensor) -> list[Topic]:
    """Return the depth image, point cloud and camera parameters of a depth camera."""
    camera = _camera(mounted)
    size = (camera.height, camera.width)
    depth, valid = mounted.array_columns("depth_m", *size), mounted.array_columns("valid", *size)
    rays = _rays(camera)
    along_ray = getattr(mounted.sensor, "along", "axis") == "ray"
    depth_per_reading = 1.0 / np.linalg.norm(rays, axis=1) if along_ray else np.ones(len(rays))

    def depths_m(row: Row) -> Float64[np.ndarray, " pixels"]:
        return np.where(row[valid] > 0.0, row[depth] * depth_per_reading, np.inf)

    def image(row: Row, ns: int) -> PlainMessage:
        pixels = depths_m(row).astype("<f4").reshape(size)
        return _image(ns, mounted.part_frame(OPTICAL), "32FC1", pixels)

    def points(row: Row, ns: int) -> PlainMessage:
        depths = depths_m(row)
        points_m = np.where(np.isfinite(depths), depths, np.nan)[:, None] * rays
        return point_cloud(ns, mounted.frame, points_m, size)

    name = mounted.name
    return [
        Topic(f"{name}/depth", IMAGE, image),
        Topic(f"{name}/points", POINT_CLOUD, points),
        _camera_info(mounted),
    ]


def point_cloud(
    ns: int, frame: str, points_m: Float64[np.ndarray, "pixels 3"], size: tuple[int, int]
) -> PlainMessage:
    """Return a ``sensor_msgs/PointCloud2`` of ``size`` (rows, columns); NaN for no point."""
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


def _image(ns: int, frame: str, encoding: str, pixels: np.ndarray) -> PlainMessage:
    return {
        "header": header(ns, frame),
        "height": pixels.shape[0],
        "width": pixels.shape[1],
        "encoding": encoding,
        "is_bigendian": 0,
        "step": pixels.strides[0],
        "data": pixels.tobytes(),
    }


def _camera_info(mounted: MountedSensor) -> Topic:
    """Return the ``sensor_msgs/CameraInfo`` of a pinhole without distortion.

    Pixel centers have integer coordinates.
    """
    camera = _camera(mounted)
    focal, frame = camera.focal_length_px, mounted.part_frame(OPTICAL)
    center = 0.5 * (camera.width - 1), 0.5 * (camera.height - 1)
    intrinsics = [[focal, 0.0, center[0]], [0.0, focal, center[1]], [0.0, 0.0, 1.0]]
    fields = {
        "height": camera.height,
        "width": camera.width,
        "distortion_model": "plumb_bob",
        "d": [0.0] * 5,
        "k": [number for row in intrinsics for number in row],
        "r": list(IDENTITY_MATRIX),
        "p": [number for row in intrinsics for number in (*row, 0.0)],
    }

    def info(_: Row, ns: int) -> PlainMessage:
        return {"header": header(ns, frame), **fields}

    return Topic(f"{mounted.name}/camera_info", CAMERA_INFO, info)


def _camera(mounted: MountedSensor) -> FieldOfView:
    """Return the field of view of a camera."""
    camera = mounted.sensor.field_of_view()
    assert camera is not None, "a sensor that measures images has a field of view"
    return camera


def _rays(camera: FieldOfView) -> Float64[np.ndarray, "pixels 3"]:
    """Return the vectors through all pixels, row by row, at 1 m depth: x ahead, y left, z up."""
    focal = camera.focal_length_px
    left = (0.5 * camera.width - np.arange(camera.width) - 0.5) / focal
    up = (0.5 * camera.height - np.arange(camera.height) - 0.5) / focal
    y, z = np.meshgrid(left, up)
    return np.column_stack([np.ones(y.size), y.ravel(), z.ravel()])
