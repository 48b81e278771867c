"""A node of ROS 2, by rclpy."""
