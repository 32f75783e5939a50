import json
from importlib.util import find_spec

import numpy as np
import pytest

from ohr.benchmarks.fincriticaled.annotations import agreement, read_export
from ohr.benchmarks.fincriticaled.facts import extract_entities, strip_entity_tags
from ohr.benchmarks.fincriticaled.judging import judge_postprocess, parse_reply
from ohr.benchmarks.fincriticaled.lexical import page_scores
from ohr.benchmarks.fincriticaled.matching import compat_det, strict_det
from ohr.benchmarks.fincriticaled.release_files import read_data_set, read_predictions
from ohr.benchmarks.fincriticaled.texts import parse
from ohr.benchmarks.fincriticaled.totals import aggregate, ffa_recall_style
from ohr.messages.faults import sentences
from samples.fincriticaled import PAGES, SAMPLE, main, merged_cells, spans


@pytest.fixture(scope="module")
def data():
    return read_data_set(SAMPLE)


def predictions(model):
    return read_predictions(SAMPLE / f"results/{model}_zero-shot")


def scored(data, model, score, **options):
    made = predictions(model)
    return [score(page.tagged, made[page.index], **options) for page in data.pages]


def ffa(records):
    """Return the share of gold facts that are correct."""
    return ffa_recall_style(aggregate(records))["entity_error"] / 100


def reply(index):
    return (SAMPLE / f"judge/reply_{index}.txt").read_text(encoding="utf-8")


def test_the_sample_has_six_pages_of_which_one_has_no_facts(data):
    assert [page.index for page in data.pages] == list(PAGES)
    assert sentences(data.faults) == ["1 page without a tagged fact: 4"]


def test_an_exact_transcription_is_wholly_correct_when_judged_strictly(data):
    for veto in (False, True):
        assert ffa(scored(data, "exact", strict_det, context_veto=veto)) == 1


def test_an_exact_transcription_loses_a_short_amount_to_the_published_search(data):
    records = scored(data, "exact", compat_det)
    missed = [one["value"] for record in records for one in record["entity_diagnostics"] if not one["correct"]]
    assert missed == ["€5"]


def test_merged_cells_are_correct_for_the_published_search_only(data):
    assert ffa(scored(data, "merged_cells", compat_det)) > 0.99
    assert ffa(scored(data, "merged_cells", strict_det)) < 0.6


def test_numbers_without_commas_are_found_but_not_correct(data):
    strict = scored(data, "without_commas", strict_det)
    assert ffa(strict) < 0.65
    assert sum(record["found_entities"] for record in strict) > 1.4 * sum(
        record["correct_entities"] for record in strict
    )


def test_a_repeated_value_of_a_cut_page_counts_once_when_judged_strictly(data):
    assert ffa(scored(data, "truncated", strict_det)) < ffa(scored(data, "truncated", compat_det)) < 0.65


def test_lexical_scores_rank_the_predictions(data):
    def mean(model, name):
        made = predictions(model)
        return np.mean([page_scores(page.html, made[page.index])[name] for page in data.pages])

    assert mean("exact", "rouge1") > 0.99
    assert mean("truncated", "rougeL") < 0.75
    assert mean("truncated", "edit_distance") > 0.3 > 0.05 > mean("without_commas", "edit_distance")


def test_swapped_columns_are_seen_by_their_context_only(data):
    tagged = data.pages[3].tagged
    rows = strip_entity_tags(tagged).split("</tr>")
    swapped = "</tr>".join("<td>".join([*row.split("<td>")[:-2], *row.split("<td>")[:-3:-1]]) for row in rows)
    record, seen = strict_det(tagged, swapped), strict_det(tagged, swapped, context_veto=True)
    assert record["correct_entities_with_Number_type"] == record["total_entities_with_Number_type"]
    assert seen["correct_entities_with_Number_type"] < 0.2 * record["correct_entities_with_Number_type"]


def test_replies_are_fenced_cut_empty_or_incomplete(data):
    read = {page.index: parse_reply(reply(page.index)) for page in data.pages}
    totals = {page.index: len(extract_entities(page.tagged)) for page in data.pages}
    assert reply(1).count("```") == 2
    assert [read[i].fault[:21] for i in PAGES] == ["", "", "", "the reply is no JSON;", "", ""]
    assert [totals[i] - len(read[i].diagnostics) for i in PAGES] == [2, 0, 0, 19, 0, -1]


def test_the_judges_own_counts_are_replaced(data):
    (page,) = [page for page in data.pages if page.index == 2]
    own = json.loads(reply(2))
    made = judge_postprocess(page.tagged, predictions("without_commas")[2], own["entity_diagnostics"])
    assert made["found_entities"] == own["found_entities"] - 1


def test_a_judges_gaps_lower_the_published_score(data):
    made = predictions("without_commas")

    def score(mode):
        return ffa(
            judge_postprocess(page.tagged, made[page.index], parse_reply(reply(page.index)).diagnostics, mode)
            for page in data.pages
        )

    assert score("reference") < score("clean") - 0.05


def test_published_rates_are_of_all_pages_together(data):
    found = aggregate(scored(data, "truncated", compat_det))
    assert found["entity_acc"] == 100.0
    assert found["missing_rate"] == pytest.approx(100 - 100 * ffa(scored(data, "truncated", compat_det)), abs=0.0101)


def test_three_annotators_marked_the_pages_and_annotator_4_is_the_gold_standard(data):
    tasks = read_export(SAMPLE / "annotations.json")
    assert {task.annotators for task in tasks} == {(2, 4, 9)}
    for page, task in zip(data.pages, tasks, strict=True):
        assert task.html == page.html
        tags = parse(page.tagged).find_all(
            ["number", "temporal", "monetaryunit", "reportingentity", "financialconcepts"]
        )
        assert [marked.text for marked in task.spans[4]] == [tag.get_text() for tag in tags]


def test_annotators_seem_to_have_marked_less_without_offsets():
    tasks = read_export(SAMPLE / "annotations.json")
    published, clean = agreement(tasks, 3, "reference"), agreement(tasks, 3)
    assert published.items < 0.8 * clean.items
    assert 0.6 < clean.fleiss < 0.95


def test_a_span_is_where_its_text_is():
    html = "<html><body><p>of <number>1,<b>20</b>4</number> and <number>5</number></p><p>6</p></body></html>"
    first, second = spans(html)
    assert (first["start"], first["startOffset"], first["end"], first["endOffset"]) == (
        "/body[1]/p[1]/text()[1]", 3, "/body[1]/p[1]/text()[2]", 1,
    )  # fmt: skip
    assert (second["start"], second["startOffset"], second["endOffset"]) == ("/body[1]/p[1]/text()[2]", 6, 7)


def test_merged_cells_have_a_line_for_each_row():
    assert (
        merged_cells("<p>A &amp; b</p><table><tr><td>c</td> <td>5</td></tr><tr><td>d</td></tr></table>")
        == "A & b\nc5\nd\n"
    )


@pytest.mark.skipif(not find_spec("typst") or not find_spec("font_hanken_grotesk"), reason="needs the extra mini")
def test_the_sample_is_what_its_sources_make(tmp_path):
    assert main(["--into", str(tmp_path)]) == 0
    made = {path.relative_to(tmp_path): path.read_bytes() for path in tmp_path.rglob("*") if path.is_file()}
    shipped = {path.relative_to(SAMPLE): path.read_bytes() for path in SAMPLE.rglob("*") if path.is_file()}
    texts = {name for name in shipped if name.suffix != ".png"}  # the bytes of images depend on the version of Pillow
    assert made.keys() == shipped.keys()
    assert {name: made[name] for name in texts} == {name: shipped[name] for name in texts}
