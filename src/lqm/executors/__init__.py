"""Where independent pieces of work are done: in this process, in several of this machine, or by Ray."""

from lqm.executors.executor import Do, Executor, Lost, Piece, Work, computing_with, sentence_of
from lqm.executors.in_process import InProcess
from lqm.executors.processes import Processes

__all__ = [
    "Do",
    "Executor",
    "InProcess",
    "Lost",
    "Piece",
    "Processes",
    "Work",
    "computing_with",
    "sentence_of",
]
