"""Basic types shared by all packages: components, commands, kinematics, errors, registries."""
