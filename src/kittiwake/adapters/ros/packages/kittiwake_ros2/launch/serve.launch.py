"""Launch file that serves a scenario to ROS 2 nodes.

ros2 launch kittiwake_ros2 serve.launch.py scenario:=ros-drone rviz:=true

Unless ROS_AUTOMATIC_DISCOVERY_RANGE is set, all nodes, RViz included, stay on this machine.
"""

import os
import shlex

from launch import LaunchContext, LaunchDescription
from launch.actions import (
    DeclareLaunchArgument,
    ExecuteProcess,
    OpaqueFunction,
    SetEnvironmentVariable,
    Shutdown,
)
from launch.conditions import IfCondition
from launch.substitutions import LaunchConfiguration, PathJoinSubstitution, ThisLaunchFileDir
from launch_ros.actions import Node

DISCOVERY = "ROS_AUTOMATIC_DISCOVERY_RANGE"
# topics of the drone in the RViz configuration
DISPLAYED_TOPICS = ("odometry", "path", "lidar", "ultrasonic", "camera/points")


def generate_launch_description() -> LaunchDescription:
    """Return the simulator, and RViz if requested; the launch ends with the simulator."""
    namespace = LaunchConfiguration("namespace")
    configuration = PathJoinSubstitution([ThisLaunchFileDir(), "..", "rviz", "drone.rviz"])
    return LaunchDescription(
        [
            DeclareLaunchArgument(
                "scenario", default_value="ros-drone", description="name or file of a scenario"
            ),
            DeclareLaunchArgument(
                "namespace",
                default_value="drone",
                description="namespace of the vehicle that RViz shows",
            ),
            DeclareLaunchArgument(
                "options", default_value="", description="further options of kittiwake serve"
            ),
            DeclareLaunchArgument("rviz", default_value="false", description="true to start RViz"),
            SetEnvironmentVariable(DISCOVERY, os.environ.get(DISCOVERY, "LOCALHOST")),
            OpaqueFunction(function=serve),
            Node(
                package="rviz2",
                executable="rviz2",
                arguments=["-d", configuration],
                parameters=[{"use_sim_time": True}],
                remappings=[
                    (f"/drone/{topic}", ["/", namespace, f"/{topic}"]) for topic in DISPLAYED_TOPICS
                ],
                condition=IfCondition(LaunchConfiguration("rviz")),
            ),
        ]
    )


def serve(context: LaunchContext) -> list[ExecuteProcess]:
    """Return the process of the simulator, with its options split as by a shell."""
    scenario = LaunchConfiguration("scenario").perform(context)
    options = shlex.split(LaunchConfiguration("options").perform(context))
    command = ["kittiwake", "serve", scenario, "--ros2", *options]
    return [ExecuteProcess(cmd=command, output="screen", on_exit=Shutdown())]
