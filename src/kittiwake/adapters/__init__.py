"""Adapters to other programs and libraries, one package or module for each."""
