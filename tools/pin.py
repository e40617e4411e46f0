"""Pin `constraints.txt` by SHA-256: `python -m tools.pin NAME==VERSION ...` adds or moves packages.

Asks pip, with whatever index it is set up for, which wheel each kind of machine would get, and notes their
hashes. A version that was pinned before keeps the hashes that it had.
"""

import itertools
import json
import re
import subprocess
import sys
from pathlib import Path

FILE = Path(__file__).parents[1] / "constraints.txt"
_HEAD = (
    "# Every version that the project is tested with, build tools included, by the SHA-256 of its wheels.\n"
    "# `make` installs from here and nothing else; `python -m tools.pin NAME==VERSION` changes a line.\n"
)
_PLATFORMS = (
    ("manylinux_2_28_x86_64", "manylinux_2_17_x86_64", "manylinux2014_x86_64"),
    ("manylinux_2_28_aarch64", "manylinux_2_17_aarch64", "manylinux2014_aarch64"),
    ("macosx_14_0_arm64", "macosx_11_0_arm64", "macosx_10_13_universal2"),
    ("win_amd64",),
)
_PYTHONS = ("3.11", "3.12", "3.13")
_PIN = re.compile(r"^(\S+)==(\S+)((?: \\\n    --hash=sha256:[0-9a-f]{64})+)$", re.MULTILINE)


def main(wanted: list[str]) -> None:
    """Read the pins, change those that are wanted, and write all in order."""
    pins = {
        (name, version): set(re.findall("[0-9a-f]{64}", hashes))
        for name, version, hashes in _PIN.findall(FILE.read_text())
    }
    for requirement in wanted:
        name, version = requirement.split("==")
        found = _hashes(requirement)
        if not found:
            sys.exit(f"there is no wheel of {requirement} for any kind of machine")
        kept = pins.pop((name, version), set())
        pins = {pin: hashes for pin, hashes in pins.items() if pin[0].lower() != name.lower()}
        pins[name, version] = found | kept
    lines = [
        f"{name}=={version}" + "".join(f" \\\n    --hash=sha256:{digest}" for digest in sorted(hashes))
        for (name, version), hashes in sorted(pins.items(), key=lambda pin: pin[0][0].lower())
    ]
    FILE.write_text(_HEAD + "\n".join(lines) + "\n")


def _hashes(requirement: str) -> set[str]:
    """The hashes of the wheels that all kinds of machines would get."""
    found: dict[str, str] = {}
    for platforms, python in itertools.product(_PLATFORMS, _PYTHONS):
        found |= _wheels(requirement, platforms, python)
        if any(name.endswith("-py3-none-any.whl") for name in found):
            break  # every machine gets this one
    return {*found.values()}


def _wheels(requirement: str, platforms: tuple[str, ...], python: str) -> dict[str, str]:
    """The wheel that one kind of machine would get, if there is one, and its hash."""
    kind = [f"--platform={platform}" for platform in platforms] + [f"--python-version={python}"]
    command = [
        sys.executable,
        "-m",
        "pip",
        "install",
        "--quiet",
        "--dry-run",
        "--ignore-installed",
        "--no-deps",
    ]
    command += ["--only-binary=:all:", "--target=unused", "--report=-", *kind, requirement]
    answer = subprocess.run(command, capture_output=True, text=True, check=False)
    if answer.returncode:
        return {}
    downloads = [item["download_info"] for item in json.loads(answer.stdout)["install"]]
    return {each["url"]: each["archive_info"]["hashes"]["sha256"] for each in downloads}


if __name__ == "__main__":
    main(sys.argv[1:])
