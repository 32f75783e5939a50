"""Where the paper used augraphy, ours cost an engine about as much as theirs."""

import numpy as np
import pytest

from ohr.benchmarks.mini import Mini
from ohr.metrics.edit import edit_distance
from ohr.noise.image.augraphy import Augraphy
from ohr.noise.image.copier import Binarization
from ohr.noise.image.light import Shadows
from ohr.noise.image.warping import Warping
from ohr.ocr.tesseract import Tesseract

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
