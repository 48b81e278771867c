"""Flights as messages, without any library of ROS."""
