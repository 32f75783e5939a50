"""The notebooks of docs/ run from top to bottom, in a folder of their own."""

from pathlib import Path

import pytest

NOTEBOOKS = sorted((Path(__file__).parents[1] / "docs" / "notebooks").glob("*.ipynb"))


@pytest.mark.acceptance
@pytest.mark.parametrize("path", NOTEBOOKS, ids=lambda path: path.stem)
def test_a_notebook_gives_the_outputs_that_it_shows(path, tmp_path, monkeypatch):
    nbclient = pytest.importorskip("nbclient", reason="nbclient is not installed")
    import nbformat

    monkeypatch.setenv("JUPYTER_PLATFORM_DIRS", "1")
    monkeypatch.setenv("IPYTHONDIR", str(tmp_path / "ipython"))
    kept = nbformat.read(path, as_version=4)
    made = nbformat.read(path, as_version=4)
    nbclient.NotebookClient(made, timeout=120, resources={"metadata": {"path": str(tmp_path)}}).execute()
    pairs = [(old, new) for old, new in zip(kept.cells, made.cells, strict=True) if old.cell_type == "code"]
    assert pairs
    for old, new in pairs:
        assert texts(new) == texts(old)
        assert pictures(new) == pictures(old)
    assert sum(pictures(new) for _, new in pairs) == 2
    assert not list(tmp_path.glob("**/.ipynb_checkpoints"))


def texts(cell):
    """The printed results; a figure's own text has its size, which the reader's libraries decide."""
    return [o["data"]["text/plain"] for o in cell.outputs if "data" in o and "image/png" not in o["data"]]


def pictures(cell):
    return sum("image/png" in output.get("data", {}) for output in cell.outputs)
