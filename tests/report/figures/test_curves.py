import shutil
import subprocess
import sys
import xml.etree.ElementTree as ElementTree
from itertools import product
from math import nan

import pytest
from PIL import Image, ImageOps

from ohr.errors import DataError
from ohr.report.figures.curves import DPI, INDEX, WIDTH, draw, figures

pytest.importorskip("matplotlib")

STEMS = ("performance", "performance-evidence-loss")
STAGES = ("retrieval", "generation", "overall")
GROUPS = ("text", "multimodal", "reading_order", "all")


@pytest.fixture(scope="module")
def whole(tables, tmp_path_factory):
    """A run with everything that a figure can show."""
    places = list(product(STAGES, GROUPS))
    rows = [tables.clean(stage, group=group) for stage, group in places]
    for level in (0.1, 0.3, 0.6):
        for noise, kind in (("formatting", "formatting"), ("scan", "semantic")):
            rows += [tables.row(s, noise, kind, level, level, 0.8 - level / 2, group=g) for s, g in places]
    doses = [tables.dose(level=0.3, replicate=number, r_noise=0.28 + number / 50) for number in range(3)]
    return tables.write(tmp_path_factory.mktemp("whole"), rows, doses)


@pytest.fixture(scope="module")
def files(whole):
    return draw(whole)


def odd_cases(tables):
    """Return rows that a figure must survive."""
    many = product(range(6), range(3), range(2), (0.1, 0.4))
    return {
        "one point": [tables.row(noise="scan", noise_type="semantic")],
        "clean only": [tables.clean()],
        "no noise at all": [tables.clean(kb_r_noise=0, mean=0.0, low=0, high=0, floor=nan, ceiling=nan)],
        "no intervals": [tables.row(level=x, x=x, low=nan, high=nan, documents=3) for x in (0.1, 0.2)],
        "a hole in the band": [
            tables.row(level=x, x=x, low=0.5 if x != 0.2 else nan, high=0.7 if x != 0.2 else nan)
            for x in (0.1, 0.2, 0.3, 0.4)
        ],
        "generation only": [tables.row("generation"), tables.clean("generation")],
        "a panel missing": [tables.row(group="text"), tables.row("generation")],
        "several chunkers": [tables.row("overall", chunker=chunker) for chunker in ("tokens", "page")],
        "long names": [tables.row(noise="scan of " + 30 * "very " + "old paper", retriever="r" * 90)],
        "signs of mathtext": [tables.row(noise="_cost_$5^{", retriever="a$\\b$c_d")],
        "many long names": [tables.row(noise=f"{n}-" + "w" * 50, level=n, x=n / 20) for n in range(14)],
        "many of everything": [
            tables.row("overall", f"n{n}", "semantic", x, x, 0.5, retriever=f"r{r}", generator=f"g{g}")
            for n, r, g, x in many
        ],
    }


CASES = (
    *("one point", "clean only", "no noise at all", "no intervals", "a hole in the band", "generation only"),
    *(
        "a panel missing",
        "several chunkers",
        "long names",
        "signs of mathtext",
        "many long names",
        "many of everything",
    ),
)


def test_both_figures_are_written_as_svg_and_png(whole, files):
    assert files == [whole / "figures" / f"{stem}.{kind}" for stem in STEMS for kind in ("svg", "png")]


@pytest.mark.parametrize("stem", STEMS)
def test_a_figure_is_as_wide_as_a_page(files, stem):
    folder = files[0].parent
    with Image.open(folder / f"{stem}.png") as image:
        image.load()
        assert image.width == WIDTH * DPI
        assert 0.6 * image.width < image.height < 1.2 * image.width
    root = ElementTree.parse(folder / f"{stem}.svg").getroot()
    assert root.get("width") == f"{WIDTH * 72:g}pt"


def test_the_same_run_gives_the_same_bytes_whatever_the_readers_settings(whole, files):
    import matplotlib

    first = [file.read_bytes() for file in files]
    with matplotlib.rc_context({"lines.linewidth": 9, "font.size": 30}):
        assert [file.read_bytes() for file in draw(whole)] == first
        assert matplotlib.rcParams["lines.linewidth"] == 9


def test_an_svg_says_no_date_and_needs_no_font(files):
    text = files[0].read_text()
    assert "dc:date" not in text
    assert "<text" not in text


@pytest.mark.parametrize("case", CASES)
def test_odd_runs_are_drawn_with_ink_inside_the_page_only(tables, tmp_path, case):
    _, file, *_ = draw(tables.write(tmp_path, odd_cases(tables)[case]))
    with Image.open(file) as image:
        inked = ImageOps.invert(image.convert("L")).getbbox()
        assert inked is not None
        left, top, right, bottom = inked
        assert min(left, top, image.width - right, image.height - bottom) > 0


def test_a_folder_that_is_no_run_is_left_alone(tmp_path):
    with pytest.raises(DataError):
        draw(tmp_path)
    assert list(tmp_path.iterdir()) == []


def marks(paths):
    return {path.name: path.stat().st_mtime_ns for path in paths}


@pytest.fixture(scope="module")
def once(tables, tmp_path_factory):
    """A run whose figures are drawn; copy it before you change it."""
    folder = tables.write(tmp_path_factory.mktemp("once"), [tables.row()])
    figures(folder)
    return folder


@pytest.fixture
def folder(once, tmp_path):
    return shutil.copytree(once, tmp_path / "run")


def test_whole_figures_are_not_drawn_again(folder):
    drawn = figures(folder)
    before = marks(drawn)
    assert figures(folder) == drawn
    assert marks(drawn) == before
    assert {path.name for path in (folder / "figures").iterdir()} == {INDEX, *before}


@pytest.mark.parametrize("harm", ["cut", "gone", "flipped", "no index", "cut index", "odd index", "earlier version"])
def test_figures_that_are_not_whole_are_drawn_again(folder, harm):
    drawn = figures(folder)
    content, index = [path.read_bytes() for path in drawn], folder / "figures" / INDEX
    match harm:
        case "cut":
            drawn[0].write_bytes(content[0][:5000])
        case "gone":
            drawn[-1].unlink()
        case "flipped":
            drawn[0].write_bytes(content[0].replace(b"svg", b"gvs", 1))
        case "no index":
            index.unlink()
            drawn[0].write_bytes(content[0][:5000])
        case "cut index":
            index.write_bytes(index.read_bytes()[:-9])
        case "odd index":
            index.write_text('{"ohr": "0", "files": 7}')
        case "earlier version":
            index.write_text(index.read_text().replace('"ohr": "', '"ohr": "0.0.'))
    before = marks(drawn[:-1] if harm == "gone" else drawn)
    assert figures(folder) == drawn
    assert [path.read_bytes() for path in drawn] == content
    assert all(path.stat().st_mtime_ns > before.get(path.name, 0) for path in drawn)


SHORT_OF_SPACE = """
import resource, sys
from pathlib import Path
from ohr.errors import DataError
from ohr.report.figures.curves import draw
resource.setrlimit(resource.RLIMIT_FSIZE, (9000, 9000))
try:
    draw(Path(sys.argv[1]))
except DataError as error:
    print(error)
"""


def test_a_figure_for_which_there_is_no_room_leaves_the_old_one(folder):
    drawn = figures(folder)
    before = [path.read_bytes() for path in drawn]
    message = subprocess.check_output([sys.executable, "-c", SHORT_OF_SPACE, folder], text=True)
    assert message == f"{drawn[0]}: cannot be written: File too large\n"
    assert [path.read_bytes() for path in drawn] == before
    assert not [path for path in (folder / "figures").iterdir() if path.name.startswith(".new-")]
