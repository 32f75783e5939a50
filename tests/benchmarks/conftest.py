import pytest

from .hub_server import Hub, archive, served


@pytest.fixture
def hub(monkeypatch):
    constants = pytest.importorskip("huggingface_hub.constants")
    monkeypatch.setattr(constants, "HF_HUB_OFFLINE", False)
    monkeypatch.setattr(constants, "HF_HUB_DISABLE_TELEMETRY", True)
    monkeypatch.setenv("HF_HUB_DISABLE_PROGRESS_BARS", "1")
    files = {"qas_v2.json": b"[]", "base.zip": archive({"retrieval_base/gt/law/lease.json": b"[]"})}
    with served(Hub(files=files)) as state:
        yield state
