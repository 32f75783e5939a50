"""`ohr compare`, and the block of losses, repeats and hypotheses that a run prints first."""

import json
from dataclasses import replace

import pytest

from ohr.cli.display.judgment import say_pairs
from ohr.results.derived.comparison import Side, compare_sides
from ohr.results.run import Run
from ohr.results.tables.read_table import read_rows

AGAIN = """\
name: again
replicates: 1
aa: true
benchmark: {kind: mini, languages: [en], max_pages: 1}
limit: 6
questions: {evidence_source: [text, table]}
knowledge_bases:
  - name: ground_truth
  - name: formatting
    text_noise: {kind: formatting, rate: 0.6}
chunker: {kind: page}
retrievers: [{kind: bm25, top_k: 2}]
evaluate: [retrieval]
hypotheses:
  - {name: heavy formatting hurts, compare: [ground_truth, formatting], stage: retrieval, expect: worse}
"""


def compared(ohr, *words):
    result = ohr("compare", *words, "--json")
    return result.exit_code, json.loads(result.stdout)


def test_two_conditions_are_compared_on_their_questions(ohr, there):
    status, found = compared(ohr, "small:ground_truth", "small:formatting-0.6")
    assert status == 0
    pair = found["pairs"][0]
    assert (pair["stage"], pair["metric"], pair["retriever"]) == ("retrieval", "lcs", "bm25")
    (folder,) = (there / "runs" / "small").glob("*-*")
    rows = read_rows(folder / "scores.parquet", stage="retrieval", metric="lcs")
    values = {(row["condition"], row["question_id"]): row["value"] for row in rows}
    clean = [value for (condition, _), value in values.items() if condition == "ground_truth"]
    noisy = [value for (condition, _), value in values.items() if condition == "formatting-0.6"]
    assert pair["first"]["mean"] == pytest.approx(sum(clean) / len(clean))
    assert pair["lost"] == pytest.approx((sum(clean) - sum(noisy)) / len(clean))
    assert pair["n"] == found["questions"] == len(clean)


def test_rows_about_fewer_questions_are_named_with_their_number(there, capsys):
    (folder,) = (there / "runs" / "small").glob("*-*")
    found = compare_sides(*(Side(Run(folder), name) for name in ("ground_truth", "formatting-0.6")), ("lcs",))
    say_pairs(found)
    assert "only" not in capsys.readouterr().out
    (pair,) = found.pairs  # as if some questions had no evidence
    few = replace(pair.found, difference=replace(pair.found.difference, n=9, documents=8))
    say_pairs(replace(found, pairs=[replace(pair, found=few)]))
    assert f"on 9 questions in 8 documents only, the others have no such score: {pair.label}" in capsys.readouterr().out


def test_two_conditions_of_a_run_have_its_verdict_among_the_conditions_of_their_pipeline(ohr, there):
    _, judged = compared(ohr, "small:ground_truth", "small:formatting-0.6")
    assert [line.partition(":")[0] for line in judged["within_run"]] == [
        "retrieval lcs page/bm25",
        "overall f1 page/bm25/extractive",
        "generation f1 extractive",
    ]
    # four documents give no interval, and what is identical has none
    assert all(line.endswith(" among the 2 conditions of its pipeline") for line in judged["within_run"])
    said = ohr("compare", "small:ground_truth", "small:formatting-0.6").stdout.splitlines()
    assert [line for line in said if ": in the run, " in line] == judged["within_run"]
    # the run judges a condition beside the clean text, not beside another condition or another run
    for sides in (("small:formatting-0.1", "small:formatting-0.6"), ("small:formatting-0.6", "small:ground_truth")):
        assert compared(ohr, *sides)[1]["within_run"] == []


def test_a_run_does_not_differ_from_itself(ohr, there):
    status, found = compared(ohr, "small", "small", "--fail-if", "lost > 0", "--fail-if", "p < 0.05")
    assert status == 0
    assert {pair["lost"] for pair in found["pairs"]} == {0.0}
    assert found["verdict"] == ["Every score is the same on both sides."]
    assert not found["met"] and not found["not_judged"]  # what is identical loses nothing, and needs no interval


def test_a_rule_that_is_met_ends_with_status_1(ohr, there):
    sides = ("small:ground_truth", "small:formatting-0.6")
    status, found = compared(ohr, *sides, "--fail-if", "lost > 0.02", "--fail-if", "questions_lost >= 1000")
    assert status == 1
    assert found["met"]
    assert all(line.startswith("lost > 0.02: ") for line in found["met"])
    shown = ohr("compare", *sides, "--fail-if", "lost > 0.02")
    assert shown.exit_code == 1
    assert "rules that are met:" in shown.stdout


@pytest.mark.parametrize(
    ("words", "message"),
    [
        (("small:ground", "small"), "has no condition 'ground'"),
        (("nothing", "small"), "no run 'nothing'"),
        (("small", "small", "--metric", "bleu"), "has no metric 'bleu'; it has em, f1"),
        (("small", "small", "--group", "txt"), "choose one of all, text"),
        (("small", "small", "--fail-if", "lots > 1"), "write it as NAME > NUMBER"),
        (("small", "small", "--fail-if", "low > 30"), "scores are from 0 to 1, so write 30 points as 0.3"),
        (("small", "small", "--group", "chart"), "have no question of chart in common"),
    ],
)
def test_mistakes_are_explained(ohr, there, words, message):
    result = ohr("compare", *words)
    assert result.exit_code == 2
    assert message in " ".join(result.stderr.split()).replace("│ ", "")


def test_a_run_twice_and_a_hypothesis_written_down(home, ohr):
    (home / "again.yaml").write_text(AGAIN)
    quick = ("--executor", "inline", "--no-figures", "--no-report")
    result = ohr("run", "again.yaml", *quick, "--details")
    assert result.exit_code == 0, result.stderr
    lines = result.stdout.splitlines()
    assert lines[0].split()[:2] == ["hypothesis", "expected"]
    assert lines[1].startswith("heavy formatting hurts")
    assert lines[2].startswith("Written down before any score was known")
    assert "A/A: 1 cell run twice: every score is the same." in lines
    shown = ohr("show", "again").stdout.splitlines()
    assert "1 of 1 hypothesis of the spec held." in shown
    assert "A/A: 1 cell run twice: every score is the same." in shown and len(shown) <= 25
    assert any(line.startswith("A/A: of 1 pair of draws of one noise") for line in lines)
    folder = next((home / "runs" / "again").glob("*-*"))
    manifest = json.loads((folder / "manifest.json").read_text())
    assert manifest["hypotheses"]["first_run"] == manifest["key"]
    twice, draws = read_rows(folder / "repeats.parquet")
    assert (twice["scores_that_differ"], draws["scores_that_differ"] > 0) == (0, True)
    # a changed margin makes another run, of a hypothesis that was known before
    (home / "again.yaml").write_text(AGAIN.replace("name: again", "name: later"))
    later = ohr("run", "again.yaml", *quick, "--set", "margin=0.05", "--details")
    assert later.stdout.splitlines()[0] == lines[0]  # first run and its time stay


@pytest.mark.parametrize(
    ("change", "message"),
    [
        ("compare: [ground_truth, format]", "hypotheses.0.compare.1: Choose one of: ground_truth, formatting"),
        ("compare: [ground_truth]", "hypotheses.0.compare"),
        ("retriever: bm52", "hypotheses.0.retriever: Choose one of: bm25."),
        ("group: txt", "hypotheses.0.group: Choose one of: all, text"),
        ("generator: extractive", "hypotheses.0.generator: the stage retrieval has no generator"),
        ("stage: overall", "hypotheses.0.stage: `evaluate` does not have overall"),
        ("metric: lsc", "hypotheses.0.metric: Choose one of: "),
    ],
)
def test_hypotheses_name_what_the_spec_has(home, ohr, change, message):
    key = change.partition(":")[0]
    kept = [part for part in ("compare: [ground_truth, formatting]", "stage: retrieval") if not part.startswith(key)]
    line = f"  - {{name: h, {', '.join([*kept, change])}, expect: worse}}\n"
    (home / "again.yaml").write_text(AGAIN[: AGAIN.index("  - {name: heavy")] + line)
    result = ohr("check", "again.yaml")
    assert result.exit_code == 2
    assert message in result.stderr + result.stdout


def test_a_hypothesis_needs_a_search_of_both_conditions(home, ohr):
    limited = AGAIN.replace("  - name: ground_truth\n", "  - {name: ground_truth, retrievers: [pages]}\n")
    limited = limited.replace("top_k: 2}", "top_k: 2}, {kind: bm25, top_k: 1, name: pages}")
    (home / "again.yaml").write_text(limited.replace("stage: retrieval,", "stage: retrieval, retriever: bm25,"))
    result = ohr("check", "again.yaml")
    assert result.exit_code == 2
    assert "hypotheses.0.compare: no search of 'ground_truth' has this retriever" in result.stderr + result.stdout


def test_a_condition_may_not_have_the_name_of_a_repeat(home, ohr):
    named = AGAIN.replace("- name: formatting\n", "- name: ground_truth again\n").replace(", formatting]", "]")
    (home / "again.yaml").write_text(named[: named.index("hypotheses")])
    result = ohr("check", "again.yaml")
    assert result.exit_code == 2
    assert "'ground_truth again'" in result.stderr + result.stdout


def test_a_plan_says_what_the_design_can_find(ohr, there):
    plain = ohr("plan", "small.yaml")
    # two comparisons of a pipeline are judged together, and the spec has four documents
    assert "can show no loss, however large: 7 documents are the fewest that can show anything" in plain.stdout
    found = json.loads(ohr("plan", "small.yaml", "--detect", "0.05", "--equivalent", "0.05", "--json").stdout)
    counts = {(row["draws"], row["per_document"]): row["documents"][1] for row in found["detects"]["needed"]}
    least, most = min(counts.values()), max(counts.values())
    assert 5 < least < most
    assert all(low < high for low, high in (row["documents"] for row in found["detects"]["needed"]))
    assert len(found["detects"]["needed_to_show"]) == 9
