"""Single maneuvers: takeoff, go to, hold, idle, disarm."""
