"""The channel on a domain that it was not fitted on, against its baselines; speed/channel_ablation.py is all of it."""

import os
from pathlib import Path

import numpy as np
import pytest

from speed.channel_ablation import WORST, judged
from speed.channel_fit import MODELS
from speed.channel_rows import Data, measured, remembered, table

pytestmark = [pytest.mark.ohrbench, pytest.mark.slow, pytest.mark.timeout(900)]


def test_on_an_unseen_domain_the_channel_is_nearer_to_the_engine_than_each_baseline():
    if "OHRBENCH_DATA" not in os.environ:
        pytest.skip("OHRBENCH_DATA names no folder")
    root = Path(os.environ["OHRBENCH_DATA"])
    data, other = (Data(root, "MinerU", (domain,)) for domain in ("manual", "law"))
    real = measured(data, data.read, "MinerU")
    rows, apart = table(data, real), {}
    with remembered():
        for model in MODELS:
            for setting, _, made in judged(data, [other], real, model, 1):
                distances = [min(abs(row.apart(made[row.name])), WORST) for row in rows]
                apart.setdefault(setting, {})[model] = np.mean(distances)
    for found in apart.values():
        assert min(found, key=found.get) == "channel", apart
