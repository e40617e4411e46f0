"""Fuzzing of every reader of files: whatever the bytes are, they are read, or refused in one sentence."""
