"""Static page of a recorded flight: one HTML file with the scene, a time line and charts."""
