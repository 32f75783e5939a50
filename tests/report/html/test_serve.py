"""Answers of `ohr view`, and to whom it gives them."""

import json
import shutil
import socket
from contextlib import contextmanager
from pathlib import Path

import pytest

from ohr.cli.view import _progress
from ohr.engine.progress import Quiet
from ohr.report.html.site import Site, make_server
from ohr.results.folder.run_folder import RunFolder
from ohr.runner.events import EventLog

from .chromium import asking


@contextmanager
def served(runs):
    """Serve a folder of runs; yields a function from an address to the answer's status and body."""
    with asking(make_server(Site(runs, _progress), 0)) as (_, ask):
        yield ask


@pytest.fixture(scope="module")
def get(plain):
    """Ask the server of the plain run; an address starts at the run."""
    with served(plain.parent.parent) as ask:
        yield lambda path, **headers: ask(f"/run/{plain.parent.name}/{plain.name}{path}", **headers)


def test_the_head_of_a_page_says_how_long_it_is(tmp_path):
    with served(tmp_path) as ask:
        _, body = ask("/")
        assert ask("/", verb="HEAD") == (200, len(body))


def test_connections_that_come_at_once_wait_for_their_answer(tmp_path):
    server = make_server(Site(tmp_path, _progress), 0)  # it accepts none yet
    try:
        waiting = [socket.create_connection(("127.0.0.1", server.server_port), timeout=60) for _ in range(60)]
    finally:
        server.server_close()
    for connection in waiting:
        connection.close()


def test_only_this_machine_is_answered(get):
    status, body = get("/0/about", Host="evil.example:80")
    assert status == 403
    assert b"this machine only" in body


def test_a_page_of_the_list_is_chosen_and_sorted(get):
    status, body = get("/0/questions?pipeline=0&condition=2&order=lost&descending=1&size=5&page=1")
    found = json.loads(body)
    assert status == 200
    lost = [row["lost"] for row in found["data"]]
    assert len(lost) == 5
    assert lost == sorted(lost, reverse=True)
    assert found["last_page"] == -(-found["last_row"] // 5)
    beyond = json.loads(get("/0/questions?pipeline=0&condition=2&size=5&page=1000")[1])
    assert beyond["data"] == []


def test_a_question_has_its_pages_hits_and_answers(get):
    (question,) = json.loads(get("/0/question?place=0")[1])["questions"].values()
    assert question["pages"] and question["hits"] and question["answered"] and question["scores"]


def test_a_page_image_is_made_when_it_is_asked_for(get):
    (question,) = json.loads(get("/0/question?place=0")[1])["questions"].values()
    status, body = get(f"/0/image?condition=ground_truth&document={question['document']}&page=0")
    assert status == 200
    assert body[:4] == b"RIFF"


def test_a_page_image_without_its_data_has_a_reason(plain, tmp_path):
    folder = tmp_path / plain.parent.name / plain.name
    shutil.copytree(plain, folder)
    manifest = json.loads((folder / "manifest.json").read_text())
    manifest["spec"]["benchmark"] = {"kind": "folder", "root": "gone"}
    (folder / "manifest.json").write_text(json.dumps(manifest))
    with served(tmp_path) as ask:
        address = f"/run/{plain.parent.name}/{plain.name}/0"
        (question,) = json.loads(ask(f"{address}/question?place=0")[1])["questions"].values()
        status, body = ask(f"{address}/image?condition=ground_truth&document={question['document']}&page=0")
    assert status == 404
    assert body.startswith(b"no page image: ")


LIST = "/0/questions?pipeline=0&condition=0&"


@pytest.mark.parametrize(
    ("path", "said"),
    [
        ("/0/questions?pipeline=99&condition=0", "pipeline: got '99'. It must be a whole number from 0 to 2."),
        ("/0/questions?pipeline=-1&condition=-5", "pipeline: got '-1'. It must be a whole number from 0 to 2."),
        ("/0/questions?pipeline=x&condition=0", "pipeline: got 'x'. It must be a whole number from 0 to 2."),
        ("/0/questions?pipeline=&condition=0", "pipeline: got ''. It must be a whole number from 0 to 2."),
        ("/0/questions?condition=0", "pipeline: is missing. It must be a whole number from 0 to 2."),
        ("/0/questions?pipeline=0", "condition: is missing. It must be a whole number from 0 to 2."),
        ("/0/questions?pipeline=0&condition=3", "condition: got '3'. It must be a whole number from 0 to 2."),
        (LIST + "size=-5", "size: got '-5'. It must be a whole number from 1 to 200."),
        (LIST + "size=0", "size: got '0'. It must be a whole number from 1 to 200."),
        (LIST + "size=201", "size: got '201'. It must be a whole number from 1 to 200."),
        (LIST + "size=1e2", "size: got '1e2'. It must be a whole number from 1 to 200."),
        (LIST + "page=0", "page: got '0'. It must be a whole number of at least 1."),
        (LIST + "page=" + "9" * 5000, "page: got '999"),
        (LIST + "order=__class__", "order: got '__class__'. Choose one of: lost, clean, score, id, text, document,"),
        (LIST + "order=", "order: got ''. Choose one of: lost, clean, score"),
        (LIST + "descending=maybe", "descending: got 'maybe'. Choose one of: 0, 1."),
        (LIST + "change=x", "change: got 'x'. Choose one of: lost, gained, failed."),
        (LIST + "source=nothing", "source: got 'nothing'. Choose one of: "),
        (LIST + "domain=nothing", "domain: got 'nothing'. Choose one of: "),
        ("/0/question?place=-1", "place: got '-1'. It must be a whole number from 0 to 29."),
        ("/0/question?place=30", "place: got '30'. It must be a whole number from 0 to 29."),
        ("/0/question", "place: is missing. It must be a whole number from 0 to 29."),
        ("/0/image?condition=gone&document=x&page=0", "condition: got 'gone'. Choose one of: ground_truth,"),
        ("/0/image?condition=ground_truth&document=gone&page=0", "document: got 'gone'. Choose one of: "),
        ("/0/image?condition=ground_truth&page=0", "document: is missing. Choose one of: "),
    ],
)
def test_what_an_address_may_not_ask_is_refused_with_what_it_may(get, path, said):
    status, body = get(path)
    assert (status, body.decode()[: len(said)]) == (400, said)


@pytest.mark.parametrize("page", ["-1", "1000000", "x", ""])
def test_a_page_that_a_document_does_not_have_is_refused(get, page):
    (question,) = json.loads(get("/0/question?place=0")[1])["questions"].values()
    status, body = get(f"/0/image?condition=ground_truth&document={question['document']}&page={page}")
    assert status == 400
    assert body.decode().startswith(f"page: got '{page}'. It must be a whole number from 0 to ")


def test_choices_that_change_nothing_may_be_left_out_or_empty(get):
    plain = get("/0/questions?pipeline=0&condition=2")
    assert plain[0] == 200
    empty = "&change=&source=&domain=&search=&order=lost&descending=1&page=1&size=25"
    assert get(f"/0/questions?pipeline=0&condition=2{empty}") == plain


@pytest.mark.parametrize("path", ["/0/nothing", "/1/about", "/0"])
def test_other_addresses_are_refused_with_a_reason(get, path):
    status, body = get(path)
    assert status == 404
    assert b"there is nothing here" in body


@pytest.mark.parametrize("path", ["/etc/passwd", "/run/../../etc/", "/run/%2e%2e/%2e%2e/", "/run/plain/..%2f..%2f/"])
def test_no_address_leaves_the_folder_of_runs(plain, path):
    with served(plain.parent.parent) as ask:
        assert ask(path)[0] in (400, 404)


def test_a_run_in_progress_is_followed(tmp_path):
    begun = RunFolder.start(tmp_path, "live", "ab" * 32, {"spec": {"name": "live"}, "questions": 4, "documents": 2})
    events = EventLog(begun.path, Quiet())
    events.update("reading pages", 2, 2)
    with served(tmp_path) as ask:
        (run,) = json.loads(ask("/runs.json")[1])
        assert (run["name"], run["status"], run["questions"]) == ("live", "running", 4)
        assert run["phases"][0]["name"] == "reading pages"
        status, body = ask(f"/run/live/{begun.path.name}/")
        assert status == 404
        assert b"not finished (running)" in body
        events.close()
        begun.stop("no more")
        (run,) = json.loads(ask("/runs.json")[1])
        assert (run["status"], run["why"]) == ("stopped", "no more")
        assert [phase["left"] for phase in run["phases"]] == [None]


def test_a_damaged_run_does_not_hide_the_others(plain, tmp_path):
    (tmp_path / "broken" / "run").mkdir(parents=True)
    (tmp_path / "broken" / "run" / "manifest.json").write_text("{")
    (tmp_path / plain.parent.name).symlink_to(Path(plain.parent))
    with served(tmp_path) as ask:
        found = {run["name"]: run["status"] for run in json.loads(ask("/runs.json")[1])}
    assert found == {"broken": "damaged", plain.parent.name: "finished"}
