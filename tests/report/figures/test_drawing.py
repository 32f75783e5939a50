"""Figures as files: which ones, in which formats, and when they are drawn again."""

import shutil
import subprocess
import sys

import pytest

from ohr.errors import DataError, SpecError
from ohr.report.figures.at_hand import INDEX
from ohr.report.figures.choices import Wanted
from ohr.report.figures.drawing import draw, figures
from ohr.results.run import Run

pytest.importorskip("matplotlib")


@pytest.fixture(scope="module")
def swept(tables, tmp_path_factory):
    """A run of one noise at two levels."""
    rows = [tables.clean(), *(tables.row(level=x, x=x, group=group) for x in (0.1, 0.4) for group in ("text", "all"))]
    return tables.write(tmp_path_factory.mktemp("swept"), rows)


@pytest.fixture(scope="module")
def usual(swept):
    """The figures of `swept`."""
    return draw(Run(swept))


@pytest.fixture(scope="module")
def pdf(swept, tmp_path_factory):
    """The PDF of the curves against r_noise; an SVG is beside it."""
    wanted, out = Wanted(x="r_noise", columns=("all",)), tmp_path_factory.mktemp("pdf") / "a" / "b"
    return draw(Run(swept), wanted, ["pdf", "svg"], out)[0]


def test_a_run_with_levels_has_curves_as_svg_and_png(swept, usual):
    stems = ("performance", "performance-evidence-loss")
    assert usual == [swept / "figures" / f"{stem}.{kind}" for stem in stems for kind in ("svg", "png")]


def test_where_r_noise_is_the_same_at_all_levels_the_curve_is_over_evidence_loss(tables, tmp_path):
    rows = [tables.clean(), *(tables.row(level=x, x=1.0) for x in (0.1, 0.4))]
    doses = [tables.dose("ground_truth", None, r_noise=0.0), *(tables.dose(level=x, r_noise=1.0) for x in (0.1, 0.4))]
    for dose in doses[1:]:
        dose["evidence_loss"] = float(dose["knob_value"])
    folder = tables.write(tmp_path, rows, doses)
    assert {file.stem for file in draw(Run(folder), formats=["png"])} == {"performance-evidence-loss"}
    (asked,) = draw(Run(folder), Wanted(x="r_noise"), ["png"], tmp_path / "out")
    assert asked.stem == "performance"
    doses[2]["r_noise"] = 0.9
    folder = tables.write(tmp_path / "other", rows, doses)
    assert {file.stem for file in draw(Run(folder), formats=["png"])} == {"performance", "performance-evidence-loss"}


def test_a_run_without_levels_is_compared_unless_curves_are_asked_for(tables, tmp_path):
    engines = ("tesseract", "rapidocr")
    rows = [tables.clean(), *(tables.row(noise=name, level=None) for name in engines)]
    folder = tables.write(tmp_path, rows, [tables.dose(name, None) for name in ("ground_truth", *engines)])
    assert [file.name for file in draw(Run(folder))] == ["comparison.svg", "comparison.png"]
    (curves,) = draw(Run(folder), Wanted(x="condition"), ["png"], tmp_path / "out")
    assert curves == tmp_path / "out" / "performance-by-condition.png"


def test_a_condition_that_was_run_twice_is_no_level(tables, tmp_path):
    folder = tables.write(tmp_path, [tables.clean(), tables.clean(condition="again")])
    bases = '"knowledge_bases": [{"condition": "again", "again_of": "ground_truth"}]'
    spec = f'"spec": {{"margin": 0.02, "strata": "auto", "hypotheses": [], {bases}}}'
    manifest = folder / "manifest.json"
    manifest.write_text(manifest.read_text().replace('"spec": {}', spec))
    assert {file.stem for file in draw(Run(folder), formats=["png"])} == {"comparison"}


def test_a_pdf_has_its_fonts_in_it_and_none_of_type_3(pdf):
    content = pdf.read_bytes()
    assert content.startswith(b"%PDF") and b"/FontFile2" in content
    assert b"/Type3" not in content
    assert b"CreationDate" not in content


def test_a_pdf_is_as_wide_as_a_page_and_its_text_is_text(pdf):
    import pypdfium2

    with pypdfium2.PdfDocument(pdf) as document:
        width, _ = document[0].get_size()
        assert width == pytest.approx(7 * 72)
        assert "n = 90 questions, 17 docs" in document[0].get_textpage().get_text_bounded()


ELSEWHERE = """
import resource, sys
from pathlib import Path
from ohr.errors import DataError
from ohr.report.figures.drawing import draw
from ohr.report.figures.choices import Wanted
from ohr.results.run import Run
run, full, out = Run(sys.argv[1]), Run(sys.argv[2]), Path(sys.argv[3])
draw(run, Wanted(x="r_noise", columns=("all",)), ["pdf", "svg"], out)
resource.setrlimit(resource.RLIMIT_FSIZE, (9000, 9000))
try:
    draw(full)
except DataError as error:
    print(error)
"""


@pytest.mark.acceptance
def test_another_process_writes_the_same_bytes_and_without_room_leaves_the_old_ones(swept, pdf, folder, tmp_path):
    drawn = figures(Run(folder))
    before = [path.read_bytes() for path in drawn]
    command = [sys.executable, "-c", ELSEWHERE, swept, folder, tmp_path]
    assert subprocess.check_output(command, text=True) == f"{drawn[0]}: cannot be written: File too large\n"
    for here in (pdf, pdf.with_suffix(".svg")):
        assert (tmp_path / here.name).read_bytes() == here.read_bytes()
    assert [path.read_bytes() for path in drawn] == before
    assert not [path for path in (folder / "figures").iterdir() if path.name.startswith(".new-")]


def test_the_names_of_files_say_what_was_asked_for_and_the_usual_ones_stay(swept, usual):
    before = [file.read_bytes() for file in usual]
    wanted = Wanted(x="r_noise", metric="lcs", columns=("all",), style="slides", width=8)
    (file,) = draw(Run(swept), wanted, ["png"])
    assert file == swept / "figures" / "performance-lcs-all-slides-8in.png"
    assert [file.read_bytes() for file in usual] == before
    assert figures(Run(swept)) == usual


def test_a_metric_cannot_leave_the_folder(tables, tmp_path):
    folder = tables.write(tmp_path / "run", [tables.row(metric="../../a b")])
    (file,) = draw(Run(folder), Wanted(metric="../../a b"), ["png"])
    assert file == folder / "figures" / "comparison-.._.._a_b.png"


@pytest.mark.parametrize(
    ("choices", "message"),
    [
        ({"columns": ("images",)}, "there is no column 'images'; choose one of: text, multimodal, reading_order, all"),
        ({"x": "noise"}, "there is no x axis 'noise'; choose one of: r_noise, evidence_loss, condition"),
        ({"style": "poster"}, "there is no style 'poster'; choose one of: paper, slides"),
        ({"width": 1}, "a figure is 2 to 60 inches wide, not 1"),
    ],
)
def test_an_unknown_choice_is_refused_with_the_known_ones(choices, message):
    with pytest.raises(SpecError) as error:
        Wanted(**choices)
    assert str(error.value) == message


def test_an_unknown_format_is_refused_before_anything_is_drawn(swept, tmp_path):
    with pytest.raises(SpecError, match="there is no format 'eps'; choose one of: svg, pdf, png"):
        draw(Run(swept), formats=["eps"], out=tmp_path / "out")
    assert not (tmp_path / "out").exists()


def test_a_folder_that_is_no_run_is_left_alone(tmp_path):
    with pytest.raises(DataError):
        draw(Run(tmp_path))
    assert list(tmp_path.iterdir()) == []


def marks(paths):
    return {path.name: path.stat().st_mtime_ns for path in paths}


@pytest.fixture(scope="module")
def once(tables, tmp_path_factory):
    """A run whose figures are drawn; copy it before you change it."""
    folder = tables.write(tmp_path_factory.mktemp("once"), [tables.row()])
    figures(Run(folder))
    return folder


@pytest.fixture
def folder(once, tmp_path):
    return shutil.copytree(once, tmp_path / "run")


def test_whole_figures_are_not_drawn_again(folder):
    drawn = figures(Run(folder))
    before = marks(drawn)
    assert figures(Run(folder)) == drawn
    assert marks(drawn) == before
    assert {path.name for path in (folder / "figures").iterdir()} == {INDEX, *before}


RARE = [pytest.param(harm, marks=pytest.mark.acceptance) for harm in ("cut", "cut index")]


@pytest.mark.parametrize("harm", ["gone", "flipped", "no index", "odd index", "earlier version", *RARE])
def test_figures_that_are_not_whole_are_drawn_again(folder, harm):
    drawn = figures(Run(folder))
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
    assert figures(Run(folder)) == drawn
    assert [path.read_bytes() for path in drawn] == content
    assert all(path.stat().st_mtime_ns > before.get(path.name, 0) for path in drawn)
