"""Specs as a user writes them: each in a folder of its own, read from there."""

from collections.abc import Callable
from typing import Any

import pytest

from ohr.errors import SpecError
from ohr.spec.read import read_spec

BASE = """\
benchmark: {kind: mini}
retrievers: [{kind: bm25}]
evaluate: [retrieval]
"""


@pytest.fixture
def spec(tmp_path, monkeypatch) -> Callable[..., Any]:
    """Write a spec, read it."""
    monkeypatch.chdir(tmp_path)

    def read(text, *overrides, name="spec.yaml", trust=False, allow=()):
        (tmp_path / name).write_bytes(text.encode("utf-8", "surrogatepass"))
        return read_spec((tmp_path / name).relative_to(tmp_path), overrides, trust_plugins=trust, allow_env=allow)

    return read


@pytest.fixture
def faults(spec) -> Callable[..., list[str]]:
    """Write a wrong spec, return the lines of its error."""

    def read(text, *overrides, **how):
        with pytest.raises(SpecError) as caught:
            spec(text, *overrides, **how)
        return str(caught.value).split("\n")

    return read
