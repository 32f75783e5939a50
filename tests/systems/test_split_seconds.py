"""The seconds of a reply, split into search and model where a system says so."""

import json
from math import isnan

import pytest

from ohr.contracts import SystemReply
from ohr.errors import DataError
from ohr.files.handed_over import DIGEST, QUESTIONS, digest
from ohr.report.figures.choices import Wanted
from ohr.report.figures.other_figures import effort as effort_figure
from ohr.report.views.effort_and_money import effort as effort_view
from ohr.results.run import Run
from ohr.systems.files import Files
from ohr.systems.given_replies import as_reply
from ohr.systems.http import Http
from ohr.work.plugin_checks import BrokenContract, checked_reply
from tests.engine.conftest import Home, rows, warnings

from .rag_server import rag_server

RAG = """
class Rag:
    def ingest(self, folder, name):
        pass

    def ask(self, question):
        seconds = {"seconds": 2.0, "seconds_retrieval": 0.5, "seconds_generation": 1.25}
        return {"answer": "1850", **(seconds if SAYS else {})}
"""
SPEC = """\
benchmark: {kind: tiny}
knowledge_bases: [{name: clean}]
systems: [{kind: python, file: RAG, class: Rag, documents: text}]
evaluate: [overall]
"""


def study(folder, says):
    folder.mkdir()
    (folder / "rag.py").write_text(RAG.replace("SAYS", str(says)))
    return Home(folder).run(SPEC.replace("RAG", str(folder / "rag.py")))


def test_the_split_is_in_the_tables_of_a_system_that_states_it(tmp_path):
    finished = study(tmp_path / "says", True)
    assert {(row["seconds_retrieval"], row["seconds_generation"]) for row in rows(finished, "answers")} == {(0.5, 1.25)}
    (effort,) = rows(finished, "effort")
    assert (effort["seconds"], effort["seconds_retrieval"], effort["seconds_generation"]) == (2.0, 0.5, 1.25)
    (view,) = effort_view(Run(finished.folder))
    shown = dict(zip(view.headers, view.long[0], strict=True))
    assert (shown["of which search"], shown["of which model"]) == ("0.50", "1.25")


def test_a_system_that_states_none_has_none(tmp_path):
    finished = study(tmp_path / "silent", False)
    assert {(row["seconds_retrieval"], row["seconds_generation"]) for row in rows(finished, "answers")} == {
        (None, None)
    }
    (effort,) = rows(finished, "effort")
    assert effort["seconds"] >= 0
    (view,) = effort_view(Run(finished.folder))
    assert "of which search" not in view.headers and "seconds" in view.headers
    assert isnan(effort["tokens_in"]) and "tokens" not in view.headers  # 0 would be nothing spent
    picture = effort_figure(Run(finished.folder), Wanted())
    assert [axes.get_xlabel() for axes in picture.axes] == ["calls per question", "seconds per question"]
    assert isnan(effort["seconds_retrieval"]) and isnan(effort["seconds_generation"])


@pytest.mark.parametrize(("unit", "factor"), [("s", 1), ("ms", 1e3), ("ns", 1e9)])
def test_a_service_states_it_in_its_unit(unit, factor):
    with rag_server() as server:
        server.routes["/ask"] = lambda _: {"answer": "a", "times": {"search": 0.5 * factor, "model": 1.25 * factor}}
        fields = {"seconds_retrieval": "times.search", "seconds_generation": "times.model", "seconds_unit": unit}
        reply = service(server, **fields).ask("?", {"name": "a", "handle": "a"})
        assert (reply.seconds, reply.seconds_retrieval, reply.seconds_generation) == (None, 0.5, 1.25)
        server.routes["/ask"] = lambda _: {"answer": "a"}
        assert service(server, **fields).ask("?", {"name": "a", "handle": "a"}) == SystemReply("a")
        server.routes["/ask"] = lambda _: {"answer": "a", "times": {"search": "fast"}}
        with pytest.raises(DataError, match=r"`seconds_retrieval` \(times.search\) finds \"fast\", not a time, in"):
            service(server, **fields).ask("?", {"name": "a", "handle": "a"})


def service(server, **fields):
    given = {"url": f"{server.url}/ask", "body": {"q": "{question}"}, "answer": "answer"}
    return Http.model_validate({**given, "ingest": {"url": server.url, "field": "file"}, **fields})


def test_a_file_of_answers_states_it(tmp_path):
    home, documents = tmp_path / "handed" / "clean", tmp_path / "documents"
    home.mkdir(parents=True)
    documents.mkdir()
    (documents / "a.md").write_text("text")
    (home / DIGEST).write_text(digest(documents))
    (home / QUESTIONS).write_text(json.dumps({"id": "q1", "question": "When?"}) + "\n")
    (home / "answers.csv").write_text("question_id,answer,seconds_retrieval,seconds_generation\nq1,1850,0.5,\n")
    system = Files(folder=tmp_path / "handed")
    reply = system.ask("When?", system.ingest(documents, "clean-1a2b3c4d"))
    assert (reply.answer, reply.seconds_retrieval, reply.seconds_generation) == ("1850", 0.5, None)


@pytest.mark.parametrize("odd", [-1, "fast", True, float("nan")])
def test_a_time_that_is_none_is_refused(odd):
    with pytest.raises(BrokenContract, match="a reply's seconds_retrieval must be a number of seconds, not "):
        checked_reply(as_reply({"answer": "a", "seconds_retrieval": odd}))


def test_seconds_in_another_unit_are_warned_of(tmp_path):
    (tmp_path / "odd").mkdir()
    (tmp_path / "odd" / "rag.py").write_text(RAG.replace("SAYS", "True").replace("0.5", "500.0"))
    finished = Home(tmp_path / "odd").run(SPEC.replace("RAG", str(tmp_path / "odd" / "rag.py")))
    assert any("s of search and model for questions that took" in line for line in warnings(finished))
