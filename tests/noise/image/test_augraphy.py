"""augraphy's effects by name: the same seed gives the same pixels, and effects that cannot promise it are refused."""

import random

import numpy as np
import pytest

from ohr.benchmarks.mini import Mini
from ohr.errors import PluginError
from ohr.metrics.edit import edit_distance
from ohr.noise.image.augraphy import Augraphy
from ohr.noise.image.copier import Binarization
from ohr.noise.image.light import Shadows
from ohr.noise.image.warping import Warping
from ohr.ocr.tesseract import Tesseract

NIGHTLY = pytest.mark.acceptance  # numba compiles each effect again
PAPER = [
    ("Folding", {}),  # numba in parallel
    ("InkBleed", {}),
    pytest.param("DirtyRollers", {"line_width_range": [1, 3]}, marks=NIGHTLY),  # numba's own generators
    pytest.param("ShadowCast", {}, marks=NIGHTLY),
    pytest.param("LightingGradient", {}, marks=NIGHTLY),
    pytest.param("Letterpress", {}, marks=NIGHTLY),
]


@pytest.fixture
def small(page):
    return page[100:260, 50:270].copy()


def distort(effect, parameters, image, seed):
    return Augraphy(effect=effect, parameters=parameters).perturb(image, (), np.random.default_rng(seed)).image


@pytest.mark.parametrize(("effect", "parameters"), PAPER)
def test_one_seed_gives_one_result_whatever_was_drawn_before(small, effect, parameters):
    first = distort(effect, parameters, small, 7)
    np.random.rand(3)
    random.random()
    distort("InkBleed", {}, small, 1)
    assert np.array_equal(distort(effect, parameters, small, 7), first)
    assert not np.array_equal(distort(effect, parameters, small, 8), first)
    assert not np.array_equal(first, small)


def test_the_generators_of_others_and_the_folder_are_left_as_they_were(small, tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    random.seed(5)
    np.random.seed(5)
    expected = (random.random(), np.random.rand())
    random.seed(5)
    np.random.seed(5)
    distort("VoronoiTessellation", {}, small[:80, :80], 3)  # writes into the working folder
    assert (random.random(), np.random.rand()) == expected
    assert list(tmp_path.iterdir()) == []


def test_colors_stay_in_their_order(small):
    red = np.zeros((60, 60, 3), dtype=np.uint8)
    red[:] = (200, 10, 10)
    made = distort("Gamma", {"gamma_range": [0.9, 0.9]}, red, 0).reshape(-1, 3).mean(axis=0)
    assert made[0] > 150 > made[2]


def test_an_effect_that_gives_grey_gives_three_channels(small):
    made = distort("Faxify", {}, small, 0)
    assert made.shape[2] == 3
    assert made.dtype == np.uint8


@pytest.mark.parametrize(
    ("effect", "parameters", "message"),
    [
        ("Foldin", {}, "Did you mean 'Folding'"),
        ("Augmentation", {}, "no effect 'Augmentation'"),
        ("Scribbles", {}, "it downloads fonts"),
        ("OneOf", {}, "write a list under image_noise"),
        ("Folding", {"fold_number": 3}, "no parameter 'fold_number'; it has backdrop_color"),
        ("Folding", {"p": 0.5}, "no parameter 'p'"),
        ("BindingsAndFasteners", {"use_figshare_library": 1}, "downloads images"),
    ],
)
def test_what_cannot_run_is_refused_before_any_work(effect, parameters, message):
    with pytest.raises(PluginError, match=message):
        Augraphy(effect=effect, parameters=parameters).check()


def test_a_severity_between_is_refused():
    with pytest.raises(ValueError, match="severity is 0 or 1"):
        Augraphy(effect="Folding", severity=0.5)


def test_stages_with_equal_parameters_are_equal_and_have_one_hash():
    first, second = (Augraphy(effect="Folding", parameters={"fold_count": 2, "fold_noise": 0.0}) for _ in range(2))
    assert first == second
    assert len({first, second, Augraphy(effect="Folding")}) == 2
    assert first.identity()["augraphy"]


PAGES = ("law/noise_bylaw", "administration/roof_grant_application", "manual/centrifuge_service")


@pytest.fixture(scope="module")
def pages():
    """Three pages at 120 dpi, and what Tesseract reads on each."""
    mini, engine = Mini(languages=("en",), dpi=120), Tesseract()
    images = [mini.page_image(document, 0) for document in mini.documents() if document.name in PAGES]
    return [(image, engine.recognise([image])[0].text) for image in images]


def loss(pages, chain):
    """Mean edit distance from what was read on the clean page, over two seeds."""
    distances = []
    for number, (image, clean) in enumerate(pages):
        for seed in range(2):
            noisy = image
            for place, noise in enumerate(chain):
                noisy = noise.perturb(noisy, (), np.random.default_rng([number, seed, place])).image
            distances.append(edit_distance(Tesseract().recognise([noisy])[0].text, clean))
    return float(np.mean(distances))


@pytest.mark.acceptance
@pytest.mark.parametrize(
    ("ours", "theirs"),
    [
        (Binarization, [["InkBleed"], ["Letterpress"]]),
        (Warping, [["Geometric", "Folding"]]),
        (Shadows, [["LightingGradient"], ["ShadowCast"]]),
    ],
    ids=["binarization", "warping", "shadows"],
)
def test_ours_and_theirs_move_an_engine_the_same_way_and_about_as_far(pages, ours, theirs):
    parameters = {"Geometric": {"rotate_range": [-2, 2]}}
    peers = [
        loss(pages, [Augraphy(effect=effect, parameters=parameters.get(effect, {})) for effect in chain])
        for chain in theirs
    ]
    weak, published, strong = (loss(pages, [ours(severity=severity)]) for severity in (0.05, ours.published, 1.0))
    print(f"{ours.__name__}: {weak:.3f} {published:.3f} {strong:.3f}; augraphy {theirs}: {np.round(peers, 3)}")
    assert min(peers) > 0.02
    assert published > 0.02
    assert weak < published < strong
    assert min(peers) / 3 < published < 3 * max(peers)
