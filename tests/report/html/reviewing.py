"""A review of candidates from mini, served."""

import threading
from contextlib import contextmanager
from http.client import HTTPConnection

from ohr.benchmarks.mini import Mini
from ohr.questions.candidate import Candidate, Evidence
from ohr.questions.human_review import read_decisions
from ohr.report.html.review import serve_review
from ohr.report.html.review_pages import PageSource

from .conftest import HOSTILE

MINI = Mini(languages=("en",), max_pages=2, dpi=60)
DOCUMENTS = {document.name: document for document in MINI.documents()}


def text_of(document, page):
    return MINI.pages(DOCUMENTS[document])[page].text


PAGES = PageSource(text_of, lambda document, page: MINI.page_image(DOCUMENTS[document], page))


def candidate_of(question):
    passages = []
    for passage in question.evidence:
        page = next((page for page in question.pages if passage in text_of(question.document, page)), question.pages[0])
        start = text_of(question.document, page).find(passage)
        passages.append(Evidence(page, passage, start, start + len(passage) if start >= 0 else -1))
    return Candidate(question.id, question.text, question.answers, question.document, tuple(passages))


SET = [candidate_of(question) for question in MINI.questions()[:6]]  # the last one has evidence on two pages
OTHER = next(candidate_of(each) for each in MINI.questions() if each.document != SET[0].document and each.pages == (0,))
STRANGE = Candidate("strange", f"When? {HOSTILE}", (HOSTILE,), SET[0].document, (Evidence(0, HOSTILE),))


@contextmanager
def reviewing(path, candidates=SET, pages=PAGES, reviewer="ada", removed=None):
    """Serve a review; yields its address, and a function from a request to the answer's status and body."""
    server = serve_review(candidates, pages, path, reviewer=reviewer, removed=removed)
    threading.Thread(target=server.serve_forever, daemon=True).start()

    def ask(address, body=None, **headers):
        asked = HTTPConnection("127.0.0.1", server.server_port, timeout=60)
        asked.request("GET" if body is None else "POST", address, body=body, headers=headers)
        answer = asked.getresponse()
        status, content = answer.status, answer.read()
        asked.close()
        return status, content

    try:
        yield f"http://127.0.0.1:{server.server_port}/", ask
    finally:
        server.shutdown()
        server.server_close()


def token_of(ask):
    return ask("/")[1].decode().partition('name="token" content="')[2].partition('"')[0]


def verdicts(path):
    return [(saved.candidate, saved.verdict) for saved in read_decisions(path)]
