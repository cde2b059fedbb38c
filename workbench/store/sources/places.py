"""Choose new folders for large tables inside the output folder."""

import re
from pathlib import Path

from dpcore.errors import ParameterError
from workbench.store.settings import read_settings

_match_folder_name = re.compile(r"[A-Za-z0-9][A-Za-z0-9 ._-]{0,79}").fullmatch


def can_write_tables() -> bool:
    """Return whether this server may write tables to its output folder.

    Visitors of a demo could fill its disk, so a demo writes nothing.
    """
    return _output_folder() is not None


def new_folder_path(name: str) -> Path:
    """Return the path of a new folder with this name.

    Raises: ParameterError if the settings allow no output, the name could lead
        elsewhere, or it is taken.
    """
    output = _output_folder()
    if output is None:
        raise ParameterError(
            "this server does not write tables to folders",
            remedy="name an output folder in WORKBENCH_OUTPUT",
        )
    if not _match_folder_name(name):
        raise ParameterError(
            (
                "the name of a folder must have 1 to 80 characters: letters, "
                "digits, blanks, dots, dashes or underscores"
            ),
            remedy="begin with a letter or digit, and use no other characters",
        )
    if (output / name).exists():
        raise ParameterError(
            "something with the name of this folder exists already",
            remedy="choose a new name",
        )
    return output / name


def _output_folder() -> Path | None:
    settings = read_settings()
    return None if settings.demo else settings.output_folder
