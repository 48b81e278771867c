"""Sensors and sensor errors: measurements that a vehicle takes of itself and the world."""

from kittiwake.core.registry import Registry, RegistryEntry
from kittiwake.core.specification import namespace

SENSORS = Registry(
    "sensors",
    "sensor",
    {
        "altimeter": RegistryEntry(
            "kittiwake.sensors.altimeter:Altimeter", "QRSim's height and climb rate"
        ),
        "anchor-ranging": RegistryEntry(
            "kittiwake.sensors.anchor_ranging:AnchorRanging",
            "distances to radio anchors at known positions, one after another",
        ),
        "barometer": RegistryEntry(
            "kittiwake.sensors.barometer:Barometer", "pressure with noise and slow drift"
        ),
        "barometer-micklisch": RegistryEntry(
            "kittiwake.sensors.barometer:MicklischBarometer",
            "barometer of Micklisch et al.: bounded noise, 200 Hz",
        ),
        "beacon": RegistryEntry(
            "kittiwake.sensors.beacon:Beacon",
            "pose that the deck of the vehicle's partner transmits",
        ),
        "camera": RegistryEntry(
            "kittiwake.sensors.camera:Camera", "color images, optionally with depth"
        ),
        "gnss": RegistryEntry(
            "kittiwake.sensors.gnss:Gnss",
            "satellite position and velocity, with dilutions of precision",
        ),
        "imu": RegistryEntry(
            "kittiwake.sensors.imu:Imu", "accelerometer and gyroscope of the MPU-6000's class"
        ),
        "imu-micklisch": RegistryEntry(
            "kittiwake.sensors.imu_sets:MicklischImu",
            "IMU of Micklisch et al.: bounded noise, 100 Hz",
        ),
        "imu-qrsim": RegistryEntry(
            "kittiwake.sensors.imu_sets:QrsimImu", "IMU of QRSim: white noise, 50 Hz"
        ),
        "magnetometer": RegistryEntry(
            "kittiwake.sensors.magnetometer:Magnetometer",
            "the magnetic field, with hard and soft iron",
        ),
        "marker": RegistryEntry(
            "kittiwake.sensors.marker:Marker",
            "pose of the marker on the partner's deck, as a camera sees it",
        ),
        "orientation": RegistryEntry(
            "kittiwake.sensors.orientation:Orientation",
            "QRSim's roll, pitch and yaw from an onboard attitude estimator",
        ),
        "lidar-2d": RegistryEntry("kittiwake.sensors.lidar:Lidar2D", "ranges in a plane"),
        "person-camera": RegistryEntry(
            "kittiwake.sensors.person_camera:PersonCamera",
            "scores of a person classifier for each image cell",
        ),
        "plume": RegistryEntry(
            "kittiwake.sensors.plume_sensor:PlumeSensor", "concentration, with noise"
        ),
        "probe": RegistryEntry(
            "kittiwake.sensors.probe:Probe", "value of a field in the water, or below a drone"
        ),
        "range-camera": RegistryEntry(
            "kittiwake.sensors.range_camera:RangeCamera", "a depth image"
        ),
        "sonar-cone": RegistryEntry(
            "kittiwake.sensors.sonar_cone:SonarCone", "nearest echo within a cone"
        ),
        "terrain-class": RegistryEntry(
            "kittiwake.sensors.terrain_sensor:TerrainSensor", "terrain class below the vehicle"
        ),
        "ultrasonic": RegistryEntry(
            "kittiwake.sensors.ultrasonic:Ultrasonic", "range along one line, if the surface echoes"
        ),
        "ultrasonic-array": RegistryEntry(
            "kittiwake.sensors.ultrasonic_array:UltrasonicArray",
            "five ultrasonic sensors that take turns",
        ),
        "ultrasonic-fan": RegistryEntry(
            "kittiwake.sensors.ultrasonic_fan:UltrasonicFan",
            "ultrasonic ring of Micklisch et al.: fans of rays, 20 Hz",
        ),
        "ultrasonic-head": RegistryEntry(
            "kittiwake.sensors.ultrasonic_head:UltrasonicHead",
            "ultrasonic sensor that turns to face a surface, after Coronel Loza",
        ),
    },
    entry_keys=("rate_hz", "errors"),
)

SENSOR_ERRORS = Registry(
    "sensor_errors",
    "sensor error",
    {
        "bias": RegistryEntry(
            "kittiwake.sensors.errors.bias:Bias",
            "an offset, random at the start, optionally with a random walk",
        ),
        "dropout": RegistryEntry(
            "kittiwake.sensors.errors.dropout:Dropout", "loses samples, one by one or in bursts"
        ),
        "latency": RegistryEntry("kittiwake.sensors.errors.latency:Latency", "samples arrive late"),
        "noise": RegistryEntry("kittiwake.sensors.errors.noise:Noise", "white noise"),
        "quantization": RegistryEntry(
            "kittiwake.sensors.errors.quantization:Quantization", "values rounded to whole steps"
        ),
        "saturation": RegistryEntry(
            "kittiwake.sensors.errors.saturation:Saturation", "values clipped to limits"
        ),
        "playback": RegistryEntry(
            "kittiwake.sensors.errors.playback:MeasurementPlayback",
            "measurements of a file in place of simulated ones",
        ),
        "stuck": RegistryEntry(
            "kittiwake.sensors.errors.stuck:Stuck", "the same values repeated from a given time on"
        ),
    },
)

__getattr__, __dir__ = namespace(
    __name__,
    SENSORS,
    SENSOR_ERRORS,
    interfaces={
        "AbstractErrorOnField": "kittiwake.sensors.errors.on_field",
        "AbstractSensorError": "kittiwake.interfaces.instrument",
        "SensorInputs": "kittiwake.interfaces.sensor",
    },
)
