"""`python -m lqm`: the same as `lqm`."""

from lqm.cli.main import run

run()
