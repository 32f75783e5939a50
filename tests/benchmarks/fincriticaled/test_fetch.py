"""Fetching with the real client, from a small hub on this machine."""

import pytest

from ohr.benchmarks.fincriticaled import FinCriticalED
from ohr.benchmarks.fincriticaled.fetch import REPOSITORY, fetch
from ohr.errors import DataError
from samples.fincriticaled import SAMPLE

from ..hub_server import archive

FILES = {
    str(path.relative_to(SAMPLE)): path.read_bytes()
    for folder in ("images", "gold_annotation_html")
    for path in sorted((SAMPLE / folder).iterdir())
}
TABLE = {"raw_input_859.csv": (SAMPLE / "raw_input.csv").read_bytes()}


@pytest.mark.parametrize("place", ["", "data/", "FinCriticalED/data/"])
def test_the_folder_with_the_table_is_the_root(hub, tmp_path, place):
    hub.files = {
        "README.md": b"",
        "pages.zip": archive({f"{place}{name}": one for name, one in (FILES | TABLE).items()}),
    }
    first, second = fetch(tmp_path / "copy", endpoint=hub.url)
    assert first == f"2 files of {REPOSITORY} at commit {'a' * 40}, {len(FILES) + 1} unpacked"
    root = tmp_path / "copy" / place.partition("data/")[0]
    assert second == f"root: {root}"
    bench = FinCriticalED(root=root)
    assert len(bench.questions()) == 182
    assert bench.page_image(bench.documents()[0], 0).shape == (1210, 935, 3)


def test_a_data_set_without_the_table_says_what_there_is(hub, tmp_path):
    hub.files = {"data/train-0.parquet": b"", "README.md": b""}
    _, second = fetch(tmp_path, endpoint=hub.url)
    assert second.startswith("no raw_input_859.csv or raw_input.csv among them (README.md, data/train-0.parquet)")
    with pytest.raises(DataError, match=r"no raw_input_859\.csv"):
        FinCriticalED(root=tmp_path).check()
