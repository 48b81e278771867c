"""ROS 2 node, based on rclpy."""
