"""Sensors: what a vehicle measures of itself and the world, and what goes wrong on the way."""

from kittiwake.core.registry import Entry, Registry

SENSORS = Registry(
    "sensors",
    "sensor",
    {
        "altimeter": Entry(
            "kittiwake.sensors.altimeter:Altimeter", "QRSim's height and climb rate"
        ),
        "anchor-ranging": Entry(
            "kittiwake.sensors.anchor_ranging:AnchorRanging",
            "distances of radio anchors at known places, one after another",
        ),
        "barometer": Entry(
            "kittiwake.sensors.barometer:Barometer", "pressure with noise and slow drift"
        ),
        "barometer-micklisch": Entry(
            "kittiwake.sensors.barometer:MicklischBarometer",
            "of Micklisch et al.: noise within a bound, 200 Hz",
        ),
        "beacon": Entry(
            "kittiwake.sensors.beacon:Beacon", "where the deck of the vehicle's partner says it is"
        ),
        "camera": Entry(
            "kittiwake.sensors.camera:Camera", "pictures in color, with depths if wanted"
        ),
        "gnss": Entry(
            "kittiwake.sensors.gnss:Gnss", "position and velocity by satellites, with dilutions"
        ),
        "imu": Entry(
            "kittiwake.sensors.imu:Imu", "accelerometer and gyroscope of the MPU-6000's class"
        ),
        "imu-micklisch": Entry(
            "kittiwake.sensors.imu_sets:MicklischImu",
            "of Micklisch et al.: noise within bounds, 100 Hz",
        ),
        "imu-qrsim": Entry("kittiwake.sensors.imu_sets:QrsimImu", "of QRSim: white noise, 50 Hz"),
        "magnetometer": Entry(
            "kittiwake.sensors.magnetometer:Magnetometer",
            "the magnetic field, with hard and soft iron",
        ),
        "marker": Entry(
            "kittiwake.sensors.marker:Marker",
            "where a camera sees the marker on the deck of the vehicle's partner",
        ),
        "orientation": Entry(
            "kittiwake.sensors.orientation:Orientation",
            "QRSim's roll, pitch and yaw of an estimator on board",
        ),
        "lidar-2d": Entry("kittiwake.sensors.lidar:Lidar2D", "ranges in a plane"),
        "person-camera": Entry(
            "kittiwake.sensors.person_camera:PersonCamera", "scores of a person classifier by cells"
        ),
        "plume": Entry("kittiwake.sensors.plume_sensor:PlumeSensor", "concentration, with noise"),
        "probe": Entry(
            "kittiwake.sensors.probe:Probe", "the value of a field in the water, or below a drone"
        ),
        "range-camera": Entry("kittiwake.sensors.range_camera:RangeCamera", "a depth image"),
        "sonar-cone": Entry(
            "kittiwake.sensors.sonar_cone:SonarCone", "the nearest echo out of a cone"
        ),
        "terrain-class": Entry(
            "kittiwake.sensors.terrain_sensor:TerrainSensor", "what the ground is below"
        ),
        "ultrasonic": Entry(
            "kittiwake.sensors.ultrasonic:Ultrasonic", "range along one line, where it echoes"
        ),
        "ultrasonic-array": Entry(
            "kittiwake.sensors.ultrasonic_array:UltrasonicArray",
            "five ultrasonic sensors that take turns",
        ),
        "ultrasonic-fan": Entry(
            "kittiwake.sensors.ultrasonic_fan:UltrasonicFan",
            "of Micklisch et al.: a ring of fans of rays, 20 Hz",
        ),
        "ultrasonic-head": Entry(
            "kittiwake.sensors.ultrasonic_head:UltrasonicHead",
            "an ultrasonic sensor that turns to face a surface, after Coronel Loza",
        ),
    },
)

SENSOR_ERRORS = Registry(
    "sensor_errors",
    "error of a sensor",
    {
        "bias": Entry(
            "kittiwake.sensors.errors.bias:Bias", "an offset, drawn at the start, that may walk"
        ),
        "dropout": Entry(
            "kittiwake.sensors.errors.dropout:Dropout", "loses samples, one by one or in bursts"
        ),
        "latency": Entry("kittiwake.sensors.errors.latency:Latency", "samples arrive late"),
        "noise": Entry("kittiwake.sensors.errors.noise:Noise", "white noise"),
        "quantization": Entry(
            "kittiwake.sensors.errors.quantization:Quantization", "numbers in whole steps"
        ),
        "saturation": Entry(
            "kittiwake.sensors.errors.saturation:Saturation", "numbers end at limits"
        ),
        "stuck": Entry(
            "kittiwake.sensors.errors.stuck:Stuck", "from a time on the same numbers again"
        ),
    },
)
