"""The versions of OmniDocBench's end-to-end evaluation that are computed here."""

from typing import Literal, get_args

Version = Literal["1.0", "1.5"]

VERSIONS: tuple[Version, ...] = get_args(Version)
