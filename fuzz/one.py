"""`python -m fuzz.one READER SECONDS [CORPUS]`: fuzz one reader by atheris, until something is found."""

import hashlib
import importlib
import os
import pkgutil
import shutil
import sys
import tempfile
from contextlib import redirect_stderr
from pathlib import Path

import atheris

_INSTRUMENTED = ["lqm", "zipfile", "gzip", "pickletools", "json", "numpy.lib._format_impl"]
with atheris.instrument_imports(include=_INSTRUMENTED):
    import lqm

    for module in pkgutil.walk_packages(lqm.__path__, "lqm."):
        importlib.import_module(module.name)
    from fuzz.readers import READERS, attempt

FOUND = Path(__file__).parent / "found"


def main(name: str, seconds: str, corpus: Path) -> None:
    """Start from valid bytes and from all that was found before."""
    reader, found = READERS[name], FOUND / name
    for folder in (corpus, found):
        folder.mkdir(parents=True, exist_ok=True)
    for number, content in enumerate(reader.valid()):
        (corpus / f"valid-{number}").write_bytes(content)
    for kept in found.iterdir():
        shutil.copy(kept, corpus)
    workplace = Path(tempfile.mkdtemp(dir="/dev/shm" if os.access("/dev/shm", os.W_OK) else None))
    os.environ["LQM_CACHE"] = str(workplace / "cache")

    def one(content: bytes) -> None:
        (folder := workplace / "input").mkdir()
        try:
            attempt(reader, content, folder)
        except BaseException:
            (found / hashlib.sha256(content).hexdigest()[:16]).write_bytes(content)
            raise
        finally:
            shutil.rmtree(folder)
            shutil.rmtree(workplace / "cache", ignore_errors=True)

    flags = ["-max_len=16384", "-len_control=0", "-timeout=30", "-rss_limit_mb=4096"]
    flags += [f"-max_total_time={seconds}", f"-artifact_prefix={found}/", str(corpus)]
    atheris.Setup([sys.argv[0], *flags], one)
    with open(os.devnull, "w") as nowhere, redirect_stderr(nowhere):  # warnings about each input
        atheris.Fuzz()


if __name__ == "__main__":
    place = sys.argv[3] if len(sys.argv) > 3 else tempfile.mkdtemp(prefix="fuzz-")
    main(sys.argv[1], sys.argv[2], Path(place))
