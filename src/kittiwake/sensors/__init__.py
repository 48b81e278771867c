"""Sensors: what a vehicle measures of itself and the world, and what goes wrong on the way."""

from kittiwake.core.registry import Registry, RegistryEntry

SENSORS = Registry(
    "sensors",
    "sensor",
    {
        "altimeter": RegistryEntry(
            "kittiwake.sensors.altimeter:Altimeter", "QRSim's height and climb rate"
        ),
        "anchor-ranging": RegistryEntry(
            "kittiwake.sensors.anchor_ranging:AnchorRanging",
            "distances of radio anchors at known places, one after another",
        ),
        "barometer": RegistryEntry(
            "kittiwake.sensors.barometer:Barometer", "pressure with noise and slow drift"
        ),
        "barometer-micklisch": RegistryEntry(
            "kittiwake.sensors.barometer:MicklischBarometer",
            "of Micklisch et al.: noise within a bound, 200 Hz",
        ),
        "beacon": RegistryEntry(
            "kittiwake.sensors.beacon:Beacon", "where the deck of the vehicle's partner says it is"
        ),
        "camera": RegistryEntry(
            "kittiwake.sensors.camera:Camera", "pictures in color, with depths if wanted"
        ),
        "gnss": RegistryEntry(
            "kittiwake.sensors.gnss:Gnss", "position and velocity by satellites, with dilutions"
        ),
        "imu": RegistryEntry(
            "kittiwake.sensors.imu:Imu", "accelerometer and gyroscope of the MPU-6000's class"
        ),
        "imu-micklisch": RegistryEntry(
            "kittiwake.sensors.imu_sets:MicklischImu",
            "of Micklisch et al.: noise within bounds, 100 Hz",
        ),
        "imu-qrsim": RegistryEntry(
            "kittiwake.sensors.imu_sets:QrsimImu", "of QRSim: white noise, 50 Hz"
        ),
        "magnetometer": RegistryEntry(
            "kittiwake.sensors.magnetometer:Magnetometer",
            "the magnetic field, with hard and soft iron",
        ),
        "marker": RegistryEntry(
            "kittiwake.sensors.marker:Marker",
            "where a camera sees the marker on the deck of the vehicle's partner",
        ),
        "orientation": RegistryEntry(
            "kittiwake.sensors.orientation:Orientation",
            "QRSim's roll, pitch and yaw of an estimator on board",
        ),
        "lidar-2d": RegistryEntry("kittiwake.sensors.lidar:Lidar2D", "ranges in a plane"),
        "person-camera": RegistryEntry(
            "kittiwake.sensors.person_camera:PersonCamera", "scores of a person classifier by cells"
        ),
        "plume": RegistryEntry(
            "kittiwake.sensors.plume_sensor:PlumeSensor", "concentration, with noise"
        ),
        "probe": RegistryEntry(
            "kittiwake.sensors.probe:Probe", "the value of a field in the water, or below a drone"
        ),
        "range-camera": RegistryEntry(
            "kittiwake.sensors.range_camera:RangeCamera", "a depth image"
        ),
        "sonar-cone": RegistryEntry(
            "kittiwake.sensors.sonar_cone:SonarCone", "the nearest echo out of a cone"
        ),
        "terrain-class": RegistryEntry(
            "kittiwake.sensors.terrain_sensor:TerrainSensor", "what the ground is below"
        ),
        "ultrasonic": RegistryEntry(
            "kittiwake.sensors.ultrasonic:Ultrasonic", "range along one line, where it echoes"
        ),
        "ultrasonic-array": RegistryEntry(
            "kittiwake.sensors.ultrasonic_array:UltrasonicArray",
            "five ultrasonic sensors that take turns",
        ),
        "ultrasonic-fan": RegistryEntry(
            "kittiwake.sensors.ultrasonic_fan:UltrasonicFan",
            "of Micklisch et al.: a ring of fans of rays, 20 Hz",
        ),
        "ultrasonic-head": RegistryEntry(
            "kittiwake.sensors.ultrasonic_head:UltrasonicHead",
            "an ultrasonic sensor that turns to face a surface, after Coronel Loza",
        ),
    },
)

SENSOR_ERRORS = Registry(
    "sensor_errors",
    "error of a sensor",
    {
        "bias": RegistryEntry(
            "kittiwake.sensors.errors.bias:Bias", "an offset, drawn at the start, that may walk"
        ),
        "dropout": RegistryEntry(
            "kittiwake.sensors.errors.dropout:Dropout", "loses samples, one by one or in bursts"
        ),
        "latency": RegistryEntry("kittiwake.sensors.errors.latency:Latency", "samples arrive late"),
        "noise": RegistryEntry("kittiwake.sensors.errors.noise:Noise", "white noise"),
        "quantization": RegistryEntry(
            "kittiwake.sensors.errors.quantization:Quantization", "numbers in whole steps"
        ),
        "saturation": RegistryEntry(
            "kittiwake.sensors.errors.saturation:Saturation", "numbers end at limits"
        ),
        "stuck": RegistryEntry(
            "kittiwake.sensors.errors.stuck:Stuck", "from a time on the same numbers again"
        ),
    },
)
