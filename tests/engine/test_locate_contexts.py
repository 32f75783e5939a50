"""The locator of a knowledge base is made once for all batches of its questions, and again for another one."""

from types import SimpleNamespace
from unittest.mock import Mock

from ohr.contracts import Page
from ohr.steps.systems import locate_contexts
from ohr.work.step import Context

TRUTH = "The tenant pays a rent of 4,711 florins, and no other charge is due to the harbour board."
READ = "Tbe lenanl qays a remt of 4,7ll fl0rins, amd mo otber cbarge 1s bue t0 tbe barbour doard."


def test_the_latest_locator_is_kept(monkeypatch):
    texts = {"noisy": READ, "clean": TRUTH, "failed": None}
    reading = Mock(side_effect=lambda _, key: [Page("lease", 0, texts[key])] if texts.get(key) else None)
    monkeypatch.setattr(locate_contexts, "read_pages", reading)
    monkeypatch.setattr(locate_contexts, "_LATEST", {})

    def locator(key, truth=TRUTH):
        inputs = SimpleNamespace(truth={"lease": [Page("lease", 0, truth)]})
        return locate_contexts._pages(Context(None, inputs), ["lease"], [key])[0]

    noisy = locator("noisy")
    assert noisy.locate(TRUTH) == noisy.locate(READ) == (("lease", 0),)
    assert locator("noisy") is noisy
    assert reading.call_count == 1
    for other in (locator("clean"), locator(None)):
        assert other is not noisy
        assert (other.locate(TRUTH), other.locate(READ)) == ((("lease", 0),), ())
    assert locator("noisy", truth=READ).locate(TRUTH) == ()
    assert len(locate_contexts._LATEST) == 1
