"""The channel on a domain that it was not fitted on, against its baselines; speed/channel_held_out.py is all of it."""

import os
from pathlib import Path

import pytest

from speed.channel_held_out import MODELS, judged
from speed.channel_rows import Data, measured, remembered
from speed.channel_table import distances, table

pytestmark = [pytest.mark.ohrbench, pytest.mark.acceptance, pytest.mark.timeout(900)]


def test_on_an_unseen_domain_the_channel_is_nearer_to_the_engine_than_each_baseline():
    if "OHRBENCH_DATA" not in os.environ:
        pytest.skip("OHRBENCH_DATA names no folder")
    root = Path(os.environ["OHRBENCH_DATA"])
    data, other = (Data(root, "MinerU", (domain,)) for domain in ("manual", "law"))
    real = measured(data, data.read, "MinerU")
    rows, apart = table(data, real), {}
    with remembered():
        for model in MODELS:
            for setting, made in judged(data, [other], real, model, 1):
                apart.setdefault(setting, {})[model] = distances(rows, made).mean()
    for found in apart.values():
        assert min(found, key=found.get) == "channel", apart
