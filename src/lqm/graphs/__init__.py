"""Graphs: sources, encoders, methods, evaluation, and streams of tasks."""
