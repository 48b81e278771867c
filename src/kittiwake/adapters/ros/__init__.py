"""ROS 1 and ROS 2 interface: topics, services, transforms and bags of a flight."""
