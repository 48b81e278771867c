"""Scenario files: parsing, validation, and construction of the components that they name."""
