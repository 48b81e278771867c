"""A node of ROS 1, by rospy."""
