"""Tuning: values of a scenario that make a result of its flights as small as possible."""
