"""Flights for Foxglove: an MCAP file of typed messages, and a layout that shows them."""
