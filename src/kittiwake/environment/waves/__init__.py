"""Waves on the water: regular ones, and seas by their spectra."""
