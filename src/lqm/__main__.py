"""`python -m lqm`: the same as `lqm`."""

from lqm.cli.main import main

main()
