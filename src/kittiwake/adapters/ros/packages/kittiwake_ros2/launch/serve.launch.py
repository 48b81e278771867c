"""Flies a scenario for the nodes of ROS 2.

ros2 launch kittiwake_ros2 serve.launch.py scenario:=ros-drone rviz:=true

ROS 2 stays on this machine, RViz included, unless ROS_AUTOMATIC_DISCOVERY_RANGE says otherwise.
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
# of the drone in the configuration of RViz
SHOWN = ("odometry", "path", "lidar", "ultrasonic", "camera/points")


def generate_launch_description() -> LaunchDescription:
    """The simulator, and RViz if it is asked for; the launch ends with the simulator."""
    namespace = LaunchConfiguration("namespace")
    configuration = PathJoinSubstitution([ThisLaunchFileDir(), "..", "rviz", "drone.rviz"])
    return LaunchDescription(
        [
            DeclareLaunchArgument(
                "scenario", default_value="ros-drone", description="name or file of a scenario"
            ),
            DeclareLaunchArgument(
                "namespace", default_value="drone", description="the vehicle that RViz shows"
            ),
            DeclareLaunchArgument(
                "options", default_value="", description="more options of kittiwake serve"
            ),
            DeclareLaunchArgument(
                "rviz", default_value="false", description="whether to open RViz"
            ),
            SetEnvironmentVariable(DISCOVERY, os.environ.get(DISCOVERY, "LOCALHOST")),
            OpaqueFunction(function=serve),
            Node(
                package="rviz2",
                executable="rviz2",
                arguments=["-d", configuration],
                parameters=[{"use_sim_time": True}],
                remappings=[(f"/drone/{topic}", ["/", namespace, f"/{topic}"]) for topic in SHOWN],
                condition=IfCondition(LaunchConfiguration("rviz")),
            ),
        ]
    )


def serve(context: LaunchContext) -> list[ExecuteProcess]:
    """The simulator, with its options taken apart as a shell would."""
    scenario = LaunchConfiguration("scenario").perform(context)
    options = shlex.split(LaunchConfiguration("options").perform(context))
    command = ["kittiwake", "serve", scenario, "--ros2", *options]
    return [ExecuteProcess(cmd=command, output="screen", on_exit=Shutdown())]
