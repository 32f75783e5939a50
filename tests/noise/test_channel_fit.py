"""The channel's acceptance test, once through and without retrieval; all of it is speed/channel_fit.py."""

import os
from pathlib import Path

import pytest

from speed import channel_fit

pytestmark = [pytest.mark.ohrbench, pytest.mark.acceptance, pytest.mark.timeout(900)]

ROWS = (
    "r_noise, pooled", "r_noise, law", "r_noise, textbook", "r_noise, text", "query-term survival", "median missing",
    "singletons", "in runs of 10+", "intraclass", "numbers to words",
)  # fmt: skip
WIDE = 1.8
"""Times the limits: one draw differs from the mean of many that they are for."""


def test_the_channel_holds_where_each_baseline_fails(tmp_path):
    if "OHRBENCH_DATA" not in os.environ:
        pytest.skip("OHRBENCH_DATA names no folder")
    data = channel_fit.Data(Path(os.environ["OHRBENCH_DATA"]), "MinerU")

    def measured(texts):
        values = channel_fit.question_values(data, texts, "MinerU", retrieval=False)
        return values | channel_fit.page_values(data, texts, distance=False)

    real = measured(data.read)
    profiles = channel_fit.fitted(data, 0, "MinerU", tmp_path)
    rows = [row for row in channel_fit.table(data, real) if row.name in ROWS]
    apart = {}
    for model in channel_fit.MODELS:
        made = channel_fit.summary(data, measured(channel_fit.predicted(data, profiles, model, 0, True)), real)
        apart[model] = {r.name: made[r.name] - r.real for r in rows if abs(made[r.name] - r.real) > WIDE * r.limit}
    assert not apart.pop("channel")
    assert all(len(found) > 2 for found in apart.values()), apart
