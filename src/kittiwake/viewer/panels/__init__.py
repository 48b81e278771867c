"""The cockpit's panels: one a file, each about the vehicle that is picked."""
