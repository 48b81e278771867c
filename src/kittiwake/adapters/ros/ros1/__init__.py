"""ROS 1 node, based on rospy."""
