"""Conversion of flights to messages, without any ROS library."""
