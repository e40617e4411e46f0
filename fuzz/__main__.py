"""Fuzz the readers with coverage: all of them in turn, or those that are named.

What makes a reader crash, hang, or raise anything else than one sentence is written to `fuzz/found/READER`,
and is a test from then on.
"""

import argparse
import re
import subprocess
import sys
from pathlib import Path

from fuzz.readers import READERS


def main() -> None:
    """Fuzz each reader in a process of its own, print a line about each, and fail if anything was found."""
    parser = argparse.ArgumentParser(prog="python -m fuzz", description=__doc__)
    parser.add_argument("reader", nargs="*", help=f"of {', '.join(READERS)}; all if none is named")
    parser.add_argument("--seconds", type=int, default=600, help="for each reader")
    parser.add_argument("--corpus", type=Path, help="where inputs that reach new code are kept")
    options = parser.parse_args()
    found = False
    for name in options.reader or READERS:
        corpus = [str(options.corpus / name)] if options.corpus else []
        command = [sys.executable, "-m", "fuzz.one", name, str(options.seconds), *corpus]
        answer = subprocess.run(command, capture_output=True, text=True, errors="replace", check=False)
        said = answer.stderr + answer.stdout
        runs, places = (([*re.findall(word, said)] or ["0"])[-1] for word in (r"\n#(\d+)", r"cov: (\d+)"))
        state = "nothing found" if answer.returncode == 0 else f"FOUND (exit {answer.returncode})"
        print(f"{name:14} {runs:>9} inputs  {places:>5} places reached  {state}", flush=True)
        if answer.returncode:
            found = True
            print(said[-3000:], flush=True)
    sys.exit(found)


if __name__ == "__main__":
    main()
