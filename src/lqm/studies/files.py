"""Where studies are found: those that come with the software, and files of the user's own."""

import tomllib
from importlib.resources import files
from pathlib import Path

from lqm.studies.cell import Study
from lqm.studies.grid import read_study
from lqm.utils.errors import ConfigError
from lqm.utils.names import choose
from lqm.utils.own_files import read_plain_file
from lqm.utils.sentences import reason


def study_names() -> list[str]:
    """The studies that come with the software."""
    folder = files("lqm.recipes") / "studies"
    return sorted(path.name.removesuffix(".toml") for path in folder.iterdir() if path.name.endswith(".toml"))


def load_study(name: str | Path, scale: str | None = None) -> Study:
    """The study of that name, or in that file.

    Raises:
        ConfigError: when there is none, or its file can't be used.
    """
    path = Path(name)
    if path.suffix == ".toml" or len(path.parts) > 1:
        try:
            content = read_plain_file(path, "name a TOML file that describes a study").decode()
        except (FileNotFoundError, NotADirectoryError):
            raise ConfigError(f"there is no {path}; name a TOML file, or one of {_known()}") from None
        except UnicodeDecodeError:
            raise ConfigError(f"{path} is no text; name a TOML file that describes a study") from None
    else:
        choose(str(name), dict.fromkeys(study_names()), "study")
        content = (files("lqm.recipes") / "studies" / f"{name}.toml").read_text(encoding="utf-8")
    try:
        parsed = tomllib.loads(content)
    except (tomllib.TOMLDecodeError, RecursionError) as error:
        raise ConfigError(f"{name} can't be read as TOML: {reason(error)}") from None
    return read_study(path.stem if path.suffix == ".toml" else str(name), parsed, scale)


def _known() -> str:
    return ", ".join(study_names())
