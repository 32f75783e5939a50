"""The conformance suites catch what plugin authors get wrong: each plugin here breaks one promise."""

import json
import re
from collections.abc import Iterator
from concurrent.futures import ProcessPoolExecutor
from contextlib import suppress
from dataclasses import replace
from pathlib import Path
from typing import Annotated, ClassVar, Literal

import numpy as np
import pytest
from pydantic import Field

from ohr import testing
from ohr.chunkers.page import PageChunker
from ohr.contracts import (
    Agent,
    Ask,
    Completion,
    Context,
    Conversation,
    Generator,
    Hit,
    ImageNoise,
    Index,
    Metric,
    NoisyImage,
    NoisyText,
    OcrBackend,
    Outcome,
    PageRetriever,
    Picture,
    Prompt,
    Recognition,
    Retriever,
    Search,
    SystemReply,
    TextNoise,
    Turn,
)
from ohr.errors import DataError
from ohr.examples.system import Example as Rag
from ohr.generators.extractive import Extractive
from ohr.keys import identity
from ohr.messages.blame import fault_of
from ohr.noise.formatting import Formatting
from ohr.noise.image.copier import SaltAndPepper
from ohr.parts import GeneratorPart, RetrieverPart
from ohr.registry import load_file
from ohr.retrievers.lexical.bm25 import BM25
from ohr.testing.agents import PlainDesk, found, play
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
    with pytest.raises(AssertionError, match=r"raised TypeError: stay here \(test_testing.py:\d+\)"):
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
    """Loses the colors."""

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
    with pytest.raises(AssertionError, match="read-only"):
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
    assert str(caught.value).splitlines()[0] == f"ocr reader: {message}"


class SpoiltBM25(BM25):
    """Finds as BM25 does, and then spoils it."""

    way: Annotated[str, Field(description="What it does wrong.")] = ""

    def index(self, chunks):
        if self.way == "pickle":
            return Index({**super().index(chunks).contents, "vectors": lambda path: path.write_bytes(b"\x80")})
        if self.way == "objects":
            return Index({"words": np.array([chunks])})
        if self.way == "set":
            return Index({"words": {1}})
        return chunks if self.way == "chunks" else super().index(chunks)

    def search(self, index, queries, k):
        found = super().search(index, queries, k + (self.way == "many"))
        if self.way == "worst first":
            return [hits[::-1] for hits in found]
        if self.way == "ties":
            return [sorted(hits, key=lambda hit: (-hit.score, -hit.place)) for hits in found]
        if self.way == "twice":
            return [[hit for hit in hits for _ in range(2)][:k] for hits in found]
        if self.way == "elsewhere":
            return [[Hit(hit.place + 100, hit.score) for hit in hits] for hits in found]
        return found


@pytest.mark.parametrize(
    ("way", "message"),
    [
        ("many", "it must|must find its own chunk|at most 1 hits were asked for, 2 came"),
        ("worst first", "best first"),
        ("ties", "ties in the order of the chunks|of equal chunks"),
        ("twice", "must not be found twice"),
        ("elsewhere", "must find its own chunk"),
        ("pickle", "is a pickle"),
        ("objects", "the index has objects in the array 'words': use numbers, or a list of JSON values"),
        ("set", "an index has arrays, JSON values, indexes and functions that write files: Object of type set"),
        ("chunks", "`index` must return an Index, not list"),
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
    assert str(caught.value).splitlines()[0] == f"generator echo: {message}"


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
    assert str(caught.value).splitlines()[0] == f"metric {metric.kind}: {message}"


class Sees(Extractive):
    """Says that it reads images."""

    kind: Literal["sees"] = "sees"
    reads_images: ClassVar[bool] = True


class Looks(PageRetriever):
    """Says that it looks at page images."""

    kind: Literal["looks"] = "looks"

    def index_images(self, images):
        raise NotImplementedError

    def search(self, index, queries, k):
        raise NotImplementedError


PAGE = ("law/lease", 0)
CALLS: Iterator[int] = iter(range(10**9))


def say(*parts, role="user"):
    return (Turn(role, parts),)


ASKS = {
    "stranger": Ask("critic", say("x")),
    "no turns": Ask("reader", ()),
    "list": Ask("reader", [Turn("user", ("x",))]),
    "assistant": Ask("reader", say("x", role="assistant")),
    "number": Ask("reader", say(5)),
    "empty": Ask("reader", (*say(" "), *say("x"))),
    "attempt": Ask("reader", say("x"), attempt=-1),
    "read": Ask("reader", say("x"), read=(("nowhere", 0),)),
    "page": Ask("seer", say(Picture((("nowhere", 7),)))),
    "pages": Ask("seer", say(Picture((PAGE, PAGE)))),
    "crop": Ask("seer", say(Picture((PAGE,)).crop((9, 9, 1, 1)))),
    "blind": Ask("reader", say(Picture((PAGE,)), "What?")),
    "nothing": (),
    "word": "x",
    "searcher": Search("library", "x", 1),
    "k": Search("text", "x", 0),
    "flag": Search("text", "x", True),
    "query": Search("text", None, 1),
}
"""Steps that no agent may yield."""

OUTCOMES = {
    "text": "1964",
    "end": Outcome("", "done"),
    "answer": Outcome("1964", "budget"),
    "none": Outcome(None),
}
"""Ends that no agent may have."""


class Asks(Agent):
    """Reads what a search finds, one way or another."""

    kind: Literal["asks"] = "asks"
    way: Annotated[str, Field(description="What it does wrong.")] = ""
    calls: Annotated[int, Field(description="The most.")] = 1
    seen: Annotated[tuple[str, ...], Field(description="What it reads.")] = ("text", "image")
    text: Annotated[RetrieverPart, Field(description="Finds pages.")] = BM25()
    reader: Annotated[GeneratorPart, Field(description="Answers.")] = Extractive()
    seer: Annotated[GeneratorPart, Field(description="Sees.")] = Sees()

    @property
    def reads(self):
        return frozenset(self.seen)

    @property
    def max_calls(self):
        return self.calls

    def models(self):
        return {"reader": self.reader, "seer": self.seer}

    def retrievers(self):
        return {"text": self.text}

    def run(self, question, desk):
        yield from self.odd_steps(question)
        hits = yield Search("text", question, 3)
        if self.way == "first hit":
            hits[0]
        if self.way == "measures":
            desk.size(Picture((PAGE,)))
        texts = [desk.text(hit.page) for hit in hits] if "text" in self.seen or self.way == "peeks" else []
        instruction = "" if self.way == "own form" else desk.instruction
        reply = yield Ask("reader", say(*texts, question, instruction))
        return OUTCOMES.get(self.way) or Outcome(reply.text.strip())

    def odd_steps(self, question):
        if self.way in ASKS:
            yield ASKS[self.way]
        while self.way == "never ends":
            yield Search("text", question, 1)
        if self.way == "many":
            yield tuple(Ask("reader", say("x"), attempt=attempt) for attempt in range(2))
        if self.way == "shared":
            yield Ask("reader", say(question), shared=True)
        if self.way == "draws":
            yield Search("text", f"{next(CALLS)}", 1)
        if self.way == "file":
            Path(__file__).read_text()
        if self.way == "file in secret":
            with suppress(AssertionError):
                Path(__file__).read_text()


def test_a_good_agent_passes():
    testing.check_agent(Asks())
    testing.check_agent(Asks(seen=("text",)))
    testing.check_agent(Asks(text=Looks(), seen=("image",)))


@pytest.mark.parametrize(
    ("way", "message"),
    [
        ("stranger", "asks 'critic', which is none of its models"),
        ("no turns", "a conversation must be a tuple of turns, at least one"),
        ("list", "a conversation must be a tuple of turns, at least one"),
        ("assistant", "the last turn must be the user's, not the assistant's"),
        ("number", "a turn has 5, neither text nor picture"),
        ("empty", "a message of the user is empty"),
        ("attempt", "`attempt` is -1, not a count"),
        ("read", "says that it has read [('nowhere', 0)], which is not on the desk"),
        ("page", "shows [('nowhere', 7)], which is not on the desk"),
        ("pages", "shows a picture that cannot be made: a picture of 2 pages needs a grid"),
        ("crop", "shows a picture that cannot be made: a crop of 9, 9, 1, 1 has no pixel of a picture of 1600x1200"),
        ("blind", "shows a picture to extractive, which reads text only"),
        ("nothing", "yielded an empty tuple"),
        ("word", "yielded 'x', which is neither Ask nor Search"),
        ("searcher", "searches with 'library', which is none of its retrievers"),
        ("k", "searches for 0 hits, not for at least 1"),
        ("flag", "searches for True hits, not for at least 1"),
        ("query", "searches for None, which is no text"),
        ("never ends", "took more than 1,000 steps"),
        ("many", "made 3 calls; `max_calls` is 1"),
        ("shared", "a call with the question in it cannot be shared"),
        ("draws", "equal replies must give equal steps"),
        ("own form", "no prompt has the desk's instruction about the form of an answer"),
        ("text", "returned '1964', which is no Outcome"),
        (
            "end",
            "ended as 'done', which is none of answered, not_answerable, no_evidence, unparsed, budget",
        ),
        ("answer", "ended as 'budget', and has an answer"),
        ("none", "answer and reply must be texts"),
    ],
)
def test_an_agent_that_breaks_a_promise_is_caught(way, message):
    with pytest.raises(AssertionError) as caught:
        testing.check_agent(Asks(way=way))
    assert str(caught.value) == f"agent asks: {message}"


@pytest.mark.parametrize(
    ("fields", "message"),
    [
        ({"seen": ()}, "`reads` must be some of text, image, not frozenset()"),
        ({"seen": ("sound",)}, "`reads` must be some of text, image, not frozenset({'sound'})"),
        ({"calls": 0}, "`max_calls` must be a number of at least 1, not 0"),
        ({"seen": ("image",)}, "`reads` must have 'text', since its retriever 'text' looks at that"),
        (
            {"seen": ("text",), "text": Looks()},
            "`reads` must have 'image', since its retriever 'text' looks at that",
        ),
        (
            {"seen": ("image",), "text": Looks(), "way": "peeks"},
            "reads a page's text, and `reads` has no 'text'",
        ),
        ({"seen": ("text",), "way": "measures"}, "looks at a picture, and `reads` has no 'image'"),
        ({"seen": ("text",), "way": "blind"}, "looks at a picture, and `reads` has no 'image'"),
    ],
)
def test_an_agent_that_promises_what_it_does_not_keep_is_caught(fields, message):
    with pytest.raises(AssertionError) as caught:
        testing.check_agent(Asks(**fields))
    assert str(caught.value) == f"agent asks: {message}"


@pytest.mark.parametrize("way", ["file", "file in secret"])
def test_an_agent_that_opens_files_is_caught(way):
    with pytest.raises(AssertionError, match=f"^agent asks: does input or output itself: open .*{Path(__file__).name}"):
        testing.check_agent(Asks(way=way))
    assert Path(__file__).read_text()  # nothing is refused afterwards


def test_an_agent_that_raises_is_caught():
    with pytest.raises(AssertionError) as caught:
        testing.check_agent(Asks(way="first hit"))
    message = "raised IndexError: tuple index out of range on replies that begin with "
    assert str(caught.value).startswith(f"agent asks: {message}")


def test_a_script_that_is_too_short_is_reported():
    with pytest.raises(AssertionError, match="agent asks: call 2 has no scripted reply"):
        play(Asks(), "When?", PlainDesk({PAGE: "In 1964."}), [], lambda search: found(PAGE))


def script(folder, *entries, **fields):
    path = folder / "script.jsonl"
    path.write_text("".join(json.dumps(entry) + "\n" for entry in entries))
    return testing.Scripted(script=path, **fields)


def conversation(*said, id="q", images=()):
    parts = [one if isinstance(one, tuple) else (one,) for one in said]
    turns = tuple(map(Turn, ("user", "assistant") * len(said), parts))
    return Conversation(turns, images, id)


def test_a_scripted_generator_replies_in_order_by_question(tmp_path):
    model = script(tmp_path, {"id": "q", "replies": ["one", "two"]}, {"id": "*", "replies": ["any"]})
    asked = [conversation("a"), conversation("a", "one", "b"), conversation("a", id="other")]
    assert [completion.text for completion in model.chat(asked)] == ["one", "two", "any"]
    assert [completion.text for completion in model.answer([Prompt("a", (), "s", "a", id="q")])] == ["one"]
    testing.check_generator(model)


def test_a_scripted_reply_may_be_cut_or_fail_or_be_missing(tmp_path):
    cut, fails = {"text": "one t", "finish": "length"}, {"error": "no service"}
    model = script(tmp_path, {"id": "q", "replies": [cut, fails]})
    asked = [
        conversation("a"),
        conversation("a", "b", "c"),
        conversation("a", "b", "c", "d", "e"),
        conversation("a", id="r"),
    ]
    assert list(model.chat(asked)) == [
        Completion("one t", 1, 2, finish="length"),
        Completion("", finish="error", error="no service"),
        Completion("", finish="error", error="script.jsonl has no reply 3 to question 'q'"),
        Completion("", finish="error", error="script.jsonl has no reply 1 to question 'r'"),
    ]


def test_a_scripted_generator_notes_what_it_was_asked_and_counts_by_that(tmp_path):
    log = tmp_path / "log.jsonl"
    model = script(tmp_path, {"id": "q", "replies": ["one", "two"]}, {"id": "r", "replies": ["three"]}, log=log)
    picture = Picture((PAGE,)).fit(1, 9)
    asked = conversation(("What?", picture), images=[np.zeros((40, 30, 3), np.uint8)])
    given = model.chat([asked, conversation("a", id="r"), conversation("a"), conversation("a")])
    assert [completion.text for completion in given] == ["one", "three", "two", ""]
    first, *others = map(json.loads, log.read_text().splitlines())
    recipe = {"pages": [[*PAGE]], "steps": [["fit", [1, 9]]]}
    assert first == {"id": "q", "turns": [{"role": "user", "parts": ["What?", recipe]}], "sizes": [[30, 40]]}
    assert [line["id"] for line in others] == ["r", "q", "q"]


def call(model):
    (completion,) = model.chat([conversation("a")])
    return completion.text


def test_processes_share_the_log_of_a_script(tmp_path):
    replies = [str(number) for number in range(24)]
    model = script(tmp_path, {"id": "q", "replies": replies}, log=tmp_path / "log.jsonl")
    with ProcessPoolExecutor(3) as pool:
        assert sorted(pool.map(call, [model] * 24), key=int) == replies


def test_a_scripted_generator_may_read_text_only(tmp_path):
    model = script(tmp_path, {"id": "*", "replies": ["x"]}, vision=False, log=tmp_path / "log.jsonl")
    (completion,) = model.chat([conversation((Picture((PAGE,)),))])
    assert completion.error == "generator scripted reads text, and got an image"
    assert not model.reads_images
    assert not (tmp_path / "log.jsonl").exists()


def test_a_script_is_identified_by_its_content(tmp_path):
    first = script(tmp_path, {"id": "q", "replies": ["x"]})
    made = identity(first)
    (tmp_path / "there").mkdir()
    assert identity(script(tmp_path / "there", {"id": "q", "replies": ["x"]}, log=tmp_path / "log")) == made
    assert identity(script(tmp_path / "there", {"id": "q", "replies": ["y"]})) != made
    assert identity(script(tmp_path, {"id": "q", "replies": ["x"]}, vision=False)) != made


@pytest.mark.parametrize(
    ("text", "message"),
    [
        ("{", "{path}:1: the line: Invalid JSON: "),
        ('\n{"id": "q"}', "{path}:2: replies: Field required"),
        ('{"id": "q", "replies": ["x"]}\n{"id": "q", "replies": []}', "{path}:2: question 'q' has replies already"),
    ],
)
def test_a_line_that_is_no_entry_of_a_script_is_reported(tmp_path, text, message):
    path = tmp_path / "script.jsonl"
    path.write_text(text)
    with pytest.raises(DataError) as caught:
        testing.Scripted(script=path).check()
    assert str(caught.value).startswith(message.format(path=path))


def test_a_script_that_is_not_there_is_reported(tmp_path):
    with pytest.raises(DataError, match=r"none\.jsonl: cannot be read: No such file"):
        testing.Scripted(script=tmp_path / "none.jsonl").check()


def test_a_plugin_file_provides_a_scripted_generator_of_its_own(tmp_path):
    path = tmp_path / "script.py"
    path.write_text("from ohr.testing import Scripted\n\n\nclass Script(Scripted):\n    'Replies from a file.'\n")
    (plugin,) = load_file(path)
    assert (plugin.__name__, plugin.model_fields["kind"].default) == ("Script", "scripted")


def test_a_part_need_not_be_a_plugin_of_its_own(tmp_path):
    testing.check_agent(Asks(reader=script(tmp_path, {"id": "*", "replies": ["x"]})))


class Keeps(Rag, kind="keeps"):
    """Keeps its documents in a folder of this process, and breaks one promise."""

    way: Annotated[str, Field(description="What it does wrong.")] = ""

    def ingest(self, folder, name):
        if self.way == "empty" and not any(folder.iterdir()):
            raise ValueError("no document")
        if self.way == "folder":
            next(folder.iterdir()).unlink()
            return []
        texts = super().ingest(folder, name)
        KEPT[self.way] = texts
        return object() if self.way == "handle" else texts

    def ask(self, question, handle):
        reply = super().ask(question, KEPT[self.way] if self.way == "one" else handle)
        match self.way:
            case "text":
                return reply.answer
            case "order":
                return replace(reply, contexts=[Context("a", score=1.0), Context("b", score=2.0), *reply.contexts])
            case "page":
                return replace(reply, contexts=[Context("a", page="3")])
            case "silent":
                return SystemReply("")
        return reply


KEPT: dict[str, list[list[str]]] = {}


@pytest.mark.parametrize(
    ("way", "message"),
    [
        ("folder", "`ingest` must not change the folder of the documents"),
        ("handle", "`ingest` must return JSON, since the class is `lasting`: Object of type object is not JSON"),
        ("one", "conditions that are ingested later must not change earlier ones"),
        ("text", "reply to 'When did the lease of the ferry berth be': a system's reply must be a SystemReply"),
        ("order", "contexts must come best first"),
        ("page", "a context's page must be a whole number, not '3'"),
        ("silent", "'When did the lease of the ferry berth begin?' must lead to '1964', each time and in each thread"),
    ],
)
def test_a_system_that_breaks_a_promise_is_caught(way, message):
    with pytest.raises(AssertionError) as caught:
        testing.check_system(Keeps(way=way))
    assert message in str(caught.value)


def test_a_system_that_finds_nothing_may_pass():
    testing.check_system(Keeps(way="silent"), finds=False)


def test_a_system_may_refuse_to_work_without_a_document():
    testing.check_system(Keeps(way="empty"))


def test_good_plugins_pass():
    testing.check_system(Keeps())
    testing.check_chunker(PageChunker())
    testing.check_generator(Echo())
    testing.check_retriever(SpoiltBM25())
    assert np.array_equal(testing.odd_images()[5], np.zeros((80, 60, 3)))


class Sloppy(Retriever):
    kind: Literal["sloppy"] = "sloppy"
    size: int = 3

    def index(self, chunks):
        return Index({"size": len(chunks)})

    def search(self, index, queries, k):
        if k == 99:
            raise OSError("nothing was saved")
        return [[Hit(place, 1.0) for place in range(index["size"])] for _ in queries]


def test_all_faults_of_a_plugin_are_listed_at_once_and_what_it_raises_with_its_line():
    with pytest.raises(AssertionError) as caught:
        testing.check_retriever(Sloppy())
    faults = str(caught.value)
    assert "the class needs a docstring" in faults
    assert "field 'size' needs a description" in faults
    assert "at most" in faults and "hits were asked for" in faults
    assert re.search(r"raised OSError: nothing was saved \(test_testing\.py:\d+\)", faults)


class Wrong(Sloppy):
    kind: Literal["wrong"] = "wrong"

    def search(self, index, queries, k):
        return ["no hit" for _ in queries]


def test_what_cannot_be_used_is_reported_with_the_file_and_line_of_the_plugin():
    with pytest.raises(AssertionError, match=r"raised AttributeError: .* \(test_testing\.py:\d+\)"):
        testing.check_retriever(Wrong())
    error = AttributeError("'str' object has no attribute 'place'")
    assert re.fullmatch(r"AttributeError: 'str' .* \(test_testing\.py:\d+\)", fault_of(error, Wrong()))
    assert fault_of(RuntimeError("paper jam"), Wrong()) == "RuntimeError: paper jam"
