"""Systems in Python whose methods are coroutines or streams."""

import gc
import time
from concurrent.futures import ThreadPoolExecutor

import pytest

from ohr import testing
from ohr.errors import DataError
from ohr.systems.python import PythonSystem
from tests.engine.conftest import Home, rows, values

RAG = '''
import asyncio, re, threading


class Rag:
    """Its lock and its count belong to one event loop, as a client's session does."""

    running, most, loops = 0, 0, set()

    async def ingest(self, folder, name):
        self.loop, self.slots = asyncio.get_running_loop(), asyncio.Semaphore(8)
        self.texts = {file.name: file.read_text() for file in sorted(folder.glob("*.md"))}
        await asyncio.sleep(0)
        return "handle"

    async def ask(self, question, handle):
        assert asyncio.get_running_loop() is self.loop and handle == "handle"
        async with self.slots:
            Rag.running += 1
            Rag.most = max(Rag.most, Rag.running)
            await asyncio.sleep(0.05)
            Rag.running -= 1
        if "explode" in question:
            raise RuntimeError("no answer today")
        if "exit" in question:
            raise SystemExit("goodbye")
        return self.best(question, self.texts.items())

    async def answer(self, question, contexts):
        assert asyncio.get_running_loop() is self.loop
        return self.best(question, enumerate(contexts))["answer"]

    def best(self, question, texts):
        words = set(re.findall(r"\\w{4,}", question))
        parts = [(name, part) for name, text in texts for part in text.split("\\n\\n")] or [("", "")]
        name, part = max(parts, key=lambda each: len(words & set(re.findall(r"\\w{4,}", each[1]))))
        found = re.search(r"built in (\\d+)", part)
        contexts = [{"text": part, "document": str(name)}] if part else []
        return {"answer": found[1] if found else part, "contexts": contexts}


class Streams(Rag):
    async def ask(self, question, handle):
        reply = await super().ask(question, handle)
        for letter in reply.pop("answer"):
            yield letter
        yield reply


class Plain(Rag):
    def ask(self, question):
        yield "a"
        yield "b" if question != "odd" else 7


class Late(Rag):
    async def ask(self, question):
        async def pieces():
            yield "<think>hm</think>"
            yield "yes"
        await asyncio.sleep(0)
        return pieces()


class Slow(Rag):
    async def ask(self, question, handle):
        if "chapel of finance/1" in question:
            await asyncio.sleep(60)
        return await super().ask(question, handle)
'''


@pytest.fixture
def rag(tmp_path):
    (tmp_path / "rag.py").write_text(RAG)

    def made(name="Rag"):
        return PythonSystem.model_validate({"file": tmp_path / "rag.py", "class": name, "documents": "text"})

    return made


@pytest.fixture
def folder(tmp_path):
    (tmp_path / "documents").mkdir()
    (tmp_path / "documents" / "a.md").write_text("The mill was built in 1850.\n\nThe other house.")
    return tmp_path / "documents"


@pytest.mark.parametrize("name", ["Rag", "Streams"])
def test_coroutines_and_streams_keep_every_promise_of_a_system(rag, name):
    testing.check_system(rag(name))


def test_questions_are_asked_at_once_on_the_loop_of_the_ingest(rag, folder):
    system = rag()
    handle = system.ingest(folder, "clean")
    began = time.perf_counter()
    with ThreadPoolExecutor(8) as threads:
        replies = list(threads.map(lambda number: system.ask(f"mill {number}", handle), range(16)))
    assert time.perf_counter() - began < 0.05 * 16
    assert {reply.answer for reply in replies} == {"1850"}
    assert type(handle[0]).most == 8


def test_what_a_coroutine_raises_fails_its_question_alone(rag, folder):
    system = rag()
    handle = system.ingest(folder, "clean")
    with pytest.raises(RuntimeError, match="no answer today"):
        system.ask("explode", handle)
    with pytest.raises(SystemExit, match="goodbye"):
        system.ask("exit", handle)
    assert system.ask("mill", handle).answer == "1850"


def test_pieces_are_joined_and_a_mapping_brings_the_rest(rag, folder):
    reply = (streams := rag("Streams")).ask("mill", streams.ingest(folder, "clean"))
    assert (reply.answer, [context.document for context in reply.contexts]) == ("1850", ["a.md"])
    plain = rag("Plain")
    handle = plain.ingest(folder, "clean")
    assert plain.ask("?", handle).answer == "ab"
    with pytest.raises(DataError, match="a stream yielded int: it must yield text, and perhaps a mapping"):
        plain.ask("odd", handle)
    late = rag("Late")
    assert late.ask("?", late.ingest(folder, "clean")).answer == "<think>hm</think>yes"


def test_a_loop_ends_with_its_object(rag, folder):
    handle = rag().ingest(folder, "clean")
    loop = handle[0].loop
    assert loop.is_running()
    del handle
    gc.collect()
    until = time.perf_counter() + 5
    while not loop.is_closed() and time.perf_counter() < until:
        time.sleep(0.01)
    assert loop.is_closed()


SPEC = """\
benchmark: {kind: tiny}
knowledge_bases:
  - {name: clean}
systems:
  - {kind: python, file: RAG, class: NAME, documents: text}
evaluate: [retrieval, overall]
"""


def study(tmp_path, name, more="", **options):
    (tmp_path / "rag.py").write_text(RAG)
    spec = SPEC.replace("RAG", str(tmp_path / "rag.py")).replace("NAME", name)
    return Home(tmp_path).run(spec + more, **options)


def test_a_study_of_a_stream_has_its_answers_and_contexts(tmp_path):
    finished = study(tmp_path, "Streams")
    for stage, metric in (("overall", "em"), ("retrieval", "hit@5")):
        assert set(values(finished, kb="clean", stage=stage, metric=metric).values()) == {1.0}


def test_thoughts_in_pieces_are_no_part_of_the_answer(tmp_path):
    finished = study(tmp_path, "Late", "limit: 1\n")
    assert {(row["answer"], row["reply"]) for row in rows(finished, "answers")} == {("yes", "<think>hm</think>yes")}


@pytest.mark.acceptance
def test_a_coroutine_that_hangs_fails_its_question_alone(tmp_path):
    finished = study(tmp_path, "Slow", "limits: {seconds: 3}\nretries: 0\n", workers=1)
    assert {failure.reason for failure in finished.ledger.failures} == {"no reply within 2.7 seconds"}
    assert len([row for row in rows(finished, stage="overall", metric="em") if row["status"] == "ok"]) >= 6


@pytest.mark.parametrize(
    "ends",
    [
        "[task.cancel() for task in asyncio.all_tasks()]",
        "asyncio.get_running_loop().stop()",
        "raise asyncio.CancelledError",
    ],
)
def test_a_coroutine_that_ends_the_loop_fails_its_questions_and_hangs_none(tmp_path, ends):
    (tmp_path / "rag.py").write_text(
        f"import asyncio\n\nclass Rag:\n    async def ingest(self, folder, name):\n        pass\n\n"
        f"    async def ask(self, question):\n        {ends}\n        await asyncio.sleep(60)\n"
    )
    system = PythonSystem.model_validate({"file": tmp_path / "rag.py", "class": "Rag"})
    handle = system.ingest(tmp_path, "kb")
    for _ in range(2):
        with pytest.raises(BaseException):  # noqa: B017 # a question fails with what the loop raises
            system.ask("?", handle)
