"""Orrery from Python."""
