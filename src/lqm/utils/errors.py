"""Every error that a user can cause or meet.

A message is one sentence of what is wrong and where, and one of what would be right.
"""


class LqmError(Exception):
    """Base of all errors of this package."""


class ConfigError(LqmError):
    """A name, a value or a combination of settings that can't be used."""


class DataError(LqmError):
    """Data that can't be condensed or evaluated."""


class DivergedError(LqmError):
    """A run whose loss or whose synthetic set stopped being finite."""


class ArtifactError(LqmError):
    """A file or folder of ours that is missing, damaged, or can't be written."""


class OutOfMemoryError(LqmError, MemoryError):
    """Work for which the machine, or the limit of the process, has too little memory."""


class StoppedError(LqmError):
    """A run that was asked to stop and saved its state first."""

    def __init__(self, message: str, signal_number: int) -> None:
        super().__init__(message)
        self.signal_number = signal_number
