"""Trainings that grow for one known reason, and what leveloff says of each."""
