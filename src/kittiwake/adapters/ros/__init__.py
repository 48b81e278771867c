"""Flights as ROS nodes: what drones publish, and what they are told, in ROS 1 and ROS 2."""
