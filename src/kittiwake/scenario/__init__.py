"""From a scenario file to a simulation: text, checked values, and the components that they name."""
