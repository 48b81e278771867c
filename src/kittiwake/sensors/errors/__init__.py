"""What goes wrong between a sensor and its reader; of any sensor, in any order."""
