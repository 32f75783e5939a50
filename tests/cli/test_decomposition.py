"""Losses by stage are printed by `ohr run` and `ohr show`, counted by `ohr plan`, and checked by `ohr check`."""

import json

from ohr.report.views.loss_tables import QUANTITIES, _by_stage

WORDS = ("small.yaml", "--set", "decompose=true", "--set", "evaluate=[retrieval]")


def test_a_run_and_show_print_the_losses_by_stage(ohr, home):
    ran = ohr("run", *WORDS, "--details", "--executor", "inline", "--no-figures", "--no-report")
    assert ran.exit_code == 0
    lines = [" ".join(line.split()) for line in ran.stdout.splitlines()]
    head = lines.index(
        "stage metric pipeline condition total loss noisy index alone noisy reading alone gain of a clean index "
        "gain of clean reading overlap"
    )
    assert [line.split()[:4] for line in lines[head + 1 : head + 3]] == [
        ["retrieval", "lcs", "bm25", "formatting-0.1"],
        ["retrieval", "lcs", "bm25", "formatting-0.6"],
    ]
    total, *_ = map(float, lines[head + 2].split()[4:])
    assert total > 0
    again = ohr("show", "small", "--details")
    shown = [" ".join(line.split()) for line in again.stdout.splitlines()]
    place = shown.index(lines[head])
    assert shown[place : place + 5] == lines[head : head + 5]


def test_a_plan_and_a_check_count_the_cells(ohr):
    plan = json.loads(ohr("plan", *WORDS, "--json").stdout)
    assert plan["cells"] == {"page": 3, "retrieval": 3, "retrieval with swapped texts": 4}
    assert plan["steps"]["texts to swap"]["left"] == 4
    check = json.loads(ohr("check", *WORDS, "--json").stdout)
    assert check["cells"] == plan["cells"]


def test_a_spec_without_clean_text_is_refused_in_a_sentence(ohr, home):
    spec = (home / "small.yaml").read_text().replace("  - name: ground_truth\n", "")
    (home / "small.yaml").write_text(spec + "decompose: true\n")
    refused = ohr("check", "small.yaml")
    assert refused.exit_code == 2
    assert "small.yaml:13: decompose: compares with a knowledge base without noise, and there is none" in refused.stderr


def test_a_chunker_is_named_where_there_are_several():
    about = {"stage": "overall", "metric": "f1", "condition": "scan", "retriever": "bm25", "generator": "small"}
    rows = [
        {**about, "chunker": chunker, "quantity": quantity, "value": 0.1, "low": 0.0, "high": 0.2}
        for chunker in ("tokens", "page")
        for quantity in QUANTITIES
    ]
    names = ("tokens + bm25 + small", "page + bm25 + small")
    assert [line[2:6] for line in _by_stage(rows, "all").short] == [
        (name, "scan", *["0.10 ±0.10"] * 2) for name in names
    ]
    assert [line[2] for line in _by_stage(rows[:6], "all").short] == ["bm25 + small"]
