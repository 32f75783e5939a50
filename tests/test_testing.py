"""The conformance suites catch what plugin authors get wrong: each plugin here breaks one promise."""

from dataclasses import dataclass, field, replace
from typing import Annotated, Literal

import numpy as np
import pytest
from pydantic import Field

from ohr import testing
from ohr.chunkers.page import PageChunker
from ohr.contracts import (
    Completion,
    Generator,
    Hit,
    ImageNoise,
    Metric,
    NoisyImage,
    NoisyText,
    OcrBackend,
    Recognition,
    TextNoise,
)
from ohr.noise.formatting import Formatting
from ohr.noise.image.salt_and_pepper import SaltAndPepper
from ohr.retrievers.lexical.bm25 import BM25
from ohr.text.edits import apply


class Undescribed(PageChunker):
    """Has a field without a description."""

    size: int = 1


class Unpickled(PageChunker):
    """Cannot be sent to another process."""

    def __reduce__(self):
        raise TypeError("stay here")


class ForgetsSpans(PageChunker):
    """Strips its chunks but not their spans."""

    def split(self, pages):
        return [replace(chunk, text=chunk.text.strip()) for chunk in super().split(pages)]


class KeepsBlanks(PageChunker):
    """Returns a chunk for every page."""

    def split(self, pages):
        return super().split([replace(page, text=page.text or "(blank)") for page in pages])


class RepeatsIds(PageChunker):
    """Returns all chunks one id."""

    def split(self, pages):
        return [replace(chunk, id="0") for chunk in super().split(pages)]


@pytest.mark.parametrize(
    ("chunker", "message"),
    [
        (Undescribed(), "chunker page: field 'size' needs a description"),
        (ForgetsSpans(), "chunker page: chunk d/a:1:0: its text is not the text of its span"),
        (KeepsBlanks(), "chunker page: pages without text must give no chunk"),
        (RepeatsIds(), "chunker page: the ids of chunks must differ"),
    ],
)
def test_a_chunker_that_breaks_a_promise_is_caught(chunker, message):
    with pytest.raises(AssertionError) as caught:
        testing.check_chunker(chunker)
    assert str(caught.value).startswith(message.partition("chunk d/a")[0])


def test_a_stage_that_cannot_be_pickled_is_caught():
    with pytest.raises(TypeError, match="stay here"):
        testing.check_stage(Unpickled())


class Uncoupled(Formatting):
    """Draws again at each rate."""

    def perturb(self, text, eligible, rng):
        return super().perturb(text, eligible, np.random.default_rng(int(100 * self.rate)))


class Unfaithful(Formatting):
    """Omits one of its edits."""

    def perturb(self, text, eligible, rng):
        noisy = super().perturb(text, eligible, rng)
        return NoisyText(noisy.text, noisy.edits[:-1])


class Greedy(TextNoise):
    """Edits where nothing is eligible, at every rate."""

    kind: Literal["greedy"] = "greedy"

    def perturb(self, text, eligible, rng):
        return apply(text, Formatting(rate=1.0).perturb(text, [(0, len(text))], rng).edits)


class Careless(SaltAndPepper):
    """Works on its input."""

    def perturb(self, image, others, rng):
        image[0] = 0
        return NoisyImage(image)


class DrawsMore(SaltAndPepper):
    """Draws more at a higher severity."""

    def perturb(self, image, others, rng):
        noisy = super().perturb(image, others, rng)
        rng.random(int(10 * self.severity))
        return noisy


class NeverStill(ImageNoise):
    """Does something at severity 0."""

    kind: Literal["never_still"] = "never_still"

    def perturb(self, image, others, rng):
        return NoisyImage(255 - image)


class Flat(ImageNoise):
    """Loses the colours."""

    kind: Literal["flat"] = "flat"

    def perturb(self, image, others, rng):
        return NoisyImage(image[:, :, 0] if self.severity else image)


@pytest.mark.parametrize(
    ("check", "noise", "message"),
    [
        (testing.check_text_noise, Uncoupled(), "an edit at a lower rate is not among those at a higher one"),
        (testing.check_text_noise, Unfaithful(), "its edits, applied, must give its text"),
        (testing.check_text_noise, Greedy(), "rate 0 must give the text back, without edits"),
        (testing.check_image_noise, DrawsMore(), "it must draw as much at each severity"),
        (testing.check_image_noise, NeverStill(), "severity 0 must give the image back bit for bit"),
        (testing.check_image_noise, Flat(), r"not \(H, W, 3\) of uint8"),
    ],
)
def test_a_noise_that_breaks_a_promise_is_caught(check, noise, message):
    with pytest.raises(AssertionError, match=message):
        check(noise)


def test_a_noise_that_writes_into_its_input_is_caught():
    with pytest.raises(ValueError, match="read-only"):
        testing.check_image_noise(Careless())


class Reader(OcrBackend):
    """Reads nothing, one way or another."""

    kind: Literal["reader"] = "reader"
    way: Annotated[str, Field(description="What it does wrong.")] = ""

    def recognise(self, images):
        if self.way == "few":
            return [Recognition("") for _ in images][1:]
        if self.way == "both":
            return [Recognition("text", "error") for _ in images]
        if self.way == "order":
            return [Recognition(str(place)) for place, _ in enumerate(images)]
        return [Recognition("") for _ in images]


@pytest.mark.parametrize(
    ("way", "message"),
    [
        ("few", "4 images gave 3 results"),
        ("both", "a page that failed has an error and no text"),
        ("order", "results must be repeatable, in the order of the images"),
        ("", "it read '' where 'quick' is written"),
    ],
)
def test_an_engine_that_breaks_a_promise_is_caught(way, message, line_image):
    with pytest.raises(AssertionError) as caught:
        testing.check_ocr(Reader(way=way), line=line_image, reads="quick")
    assert str(caught.value) == f"ocr reader: {message}"


@dataclass
class Spoilt:
    """An index that changes what another finds."""

    index: object
    way: str
    asked: list[str] = field(default_factory=list)

    def search(self, queries, k):
        found = self.index.search(queries, k + (self.way == "many"))
        if self.way == "worst first":
            return [hits[::-1] for hits in found]
        if self.way == "ties":
            return [sorted(hits, key=lambda hit: (-hit.score, -hit.place)) for hits in found]
        if self.way == "twice":
            return [[hit for hit in hits for _ in range(2)][:k] for hits in found]
        if self.way == "elsewhere":
            return [[Hit(hit.place + 100, hit.score) for hit in hits] for hits in found]
        return found

    def save(self, folder):
        self.index.save(folder)
        if self.way == "pickle":
            (folder / "vectors.pkl").write_bytes(b"")


class SpoiltBM25(BM25):
    """Finds as BM25 does, and then spoils it."""

    way: Annotated[str, Field(description="What it does wrong.")] = ""

    def index(self, chunks):
        return Spoilt(super().index(chunks), self.way)

    def load(self, folder):
        return Spoilt(super().load(folder), "worst first" if self.way == "load" else self.way)


@pytest.mark.parametrize(
    ("way", "message"),
    [
        ("many", "it must|must find its own chunk|at most 1 hits were asked for, 2 came"),
        ("worst first", "best first"),
        ("ties", "ties in the order of the chunks|of equal chunks"),
        ("twice", "must not be found twice"),
        ("elsewhere", "must find its own chunk"),
        ("pickle", "is a pickle"),
        ("load", "a saved index must find the same"),
    ],
)
def test_a_retriever_that_breaks_a_promise_is_caught(way, message):
    with pytest.raises(AssertionError, match=message):
        testing.check_retriever(SpoiltBM25(way=way))


class Echo(Generator):
    """Answers with the question, one way or another."""

    kind: Literal["echo"] = "echo"
    way: Annotated[str, Field(description="What it does wrong.")] = ""

    def answer(self, prompts):
        if self.way == "few":
            prompts = prompts[1:]
        if self.way == "order":
            prompts = sorted(prompts, key=lambda prompt: prompt.question)
        for prompt in prompts:
            yield Completion(prompt.question, tokens_in=-1 if self.way == "negative" else 0)


@pytest.mark.parametrize(
    ("way", "message"),
    [
        ("few", "5 prompts gave 4 completions"),
        ("order", "completions must come in the order of the prompts, and be repeatable"),
        ("negative", "tokens and seconds must not be negative: (-1, 0, 0.0)"),
    ],
)
def test_a_generator_that_breaks_a_promise_is_caught(way, message):
    with pytest.raises(AssertionError) as caught:
        testing.check_generator(Echo(way=way))
    assert str(caught.value) == f"generator echo: {message}"


class Percent(Metric):
    """Returns percent."""

    kind: Literal["percent"] = "percent"

    def score(self, prediction, reference):
        return 100.0 * (prediction == reference)


class Whole(Metric):
    """Returns whole numbers."""

    kind: Literal["whole"] = "whole"

    def score(self, prediction, reference):
        return int(prediction == reference)


@pytest.mark.parametrize(
    ("metric", "message"), [(Percent(), "100.0 is outside [0, 1]"), (Whole(), "a score must be a float, not int")]
)
def test_a_metric_that_breaks_a_promise_is_caught(metric, message):
    with pytest.raises(AssertionError) as caught:
        testing.check_metric(metric)
    assert str(caught.value) == f"metric {metric.kind}: {message}"


def test_good_plugins_pass():
    testing.check_chunker(PageChunker())
    testing.check_generator(Echo())
    testing.check_retriever(SpoiltBM25())
    assert np.array_equal(testing.odd_images()[5], np.zeros((80, 60, 3)))
