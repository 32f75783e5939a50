from importlib.util import find_spec

import pytest

from ohr.surface import SURFACE, private_imports


@pytest.mark.parametrize("name", SURFACE)
def test_the_surface_is_there(name):
    assert find_spec(f"ohr.{name}") is not None


def test_private_imports_are_listed_with_their_lines(tmp_path):
    file = tmp_path / "mine.py"
    file.write_text(
        "import ohr.store\nimport json, ohr.text.words\nfrom ohr import extras, registry, run\n"
        "from ohr.contracts import Hit\n"
        "def late():\n    from ohr.messages.wording import counted\n    from . import other\n"
    )
    found = private_imports(file)
    assert [line.partition(" is private and may change; use what is below ohr in contracts")[0] for line in found] == [
        "mine.py:1: ohr.store", "mine.py:3: ohr.registry", "mine.py:6: ohr.messages.wording",
    ]  # fmt: skip
