import json
import re
from math import ceil, inf

import pytest

from ohr.cli.display.plans import enough_sentence
from ohr.messages.wording import ranged
from ohr.runner.power import Design, Enough
from ohr.statistics.planning import Range


def test_a_plan_before_the_first_run_has_everything_left(ohr):
    report = json.loads(ohr("plan", "small.yaml", "--json").stdout)
    assert report["cells"] == {"page": 3, "retrieval": 3, "generation": 3, "overall": 3}
    assert report["steps"]["documents to build"] == {"total": 12, "left": 12}
    assert report["steps"]["searches"] == {"total": 3, "left": 3}
    assert report["minutes"] is None
    assert report["tokens"] > 0


def test_shared_steps_are_not_counted_as_in_an_empty_store(ohr):
    sets = ("--set", "knowledge_bases=[{name: a}, {name: b}]", "--set", "retrievers=[{kind: bm25}]")
    report = json.loads(ohr("plan", "small.yaml", *sets, "--json").stdout)
    assert report["cells"]["page"] == 2
    assert report["steps"]["documents to build"] == {"total": 4, "left": 4}
    assert report["steps"]["searches"] == {"total": 1, "left": 1}


def test_a_plan_runs_nothing(ohr, home):
    assert ohr("plan", "small.yaml").exit_code == 0
    assert [path.name for path in home.iterdir()] == ["small.yaml"]


def test_a_plan_is_printed_in_words(ohr):
    lines = ohr("plan", "small.yaml", "--workers", "3").stdout.splitlines()
    assert lines[0].startswith("small: 4 documents, ")
    assert lines[1] == "12 cells: 3 page, 3 retrieval, 3 generation, 3 overall"
    assert lines[2] == "step                total  in store  left"
    assert lines[3] == "pages to read       0      0         0"
    assert lines[4] == "documents to build  12     0         12"
    (left,) = [line for line in lines if line.startswith("left to do")]
    assert left.endswith(" prompt tokens; time unknown: no page or answer was timed here yet")


def test_a_plan_after_a_run_has_nothing_left(ohr_here):
    result = ohr_here("plan", "small.yaml")
    assert "left to do: nothing" in result.stdout.splitlines()


def test_a_plan_for_one_more_level_knows_how_long_it_takes(ohr_here):
    sets = ("--set", "knowledge_bases.1.text_noise.rate=[0.1, 0.6, 0.9]", "--workers", "2")
    (line,) = [line for line in ohr_here("plan", "small.yaml", *sets).stdout.splitlines() if line.startswith("left")]
    assert line.endswith(" minutes with 2 workers")


def test_before_the_first_run_the_store_has_no_answer(ohr):
    report = json.loads(ohr("plan", "small.yaml", "--set", "questions={}", "--limit", "1", "--json").stdout)
    prompts = report["steps"]["prompts to answer"]
    assert 0 < prompts["total"] == prompts["left"]  # with one document, shuffled and empty contexts are one prompt


def test_where_neither_pages_nor_prompts_are_left_no_time_is_printed(ohr):
    done = ohr("plan", "small.yaml", "--set", "evaluate=[retrieval]", "--set", "generators=[]").stdout
    (line,) = [line for line in done.splitlines() if line.startswith("left")]
    rest = "3 searches and 36 other steps, not timed"
    assert line == f"left to do: {rest}; no page to read and no prompt to answer"


LIMITED = "{{kind: openai, base_url: 'http://127.0.0.1:9', model: m, max_tokens: 9, {limit}}}"


@pytest.mark.parametrize(("limit", "per_minute"), [("requests_per_minute", 2), ("tokens_per_minute", 1000)])
def test_a_plan_waits_for_the_limits_of_a_server(ohr, limit, per_minute):
    sets = ("--set", f"generators=[{LIMITED.format(limit=f'{limit}: {per_minute}')}]")
    report = json.loads(ohr("plan", "small.yaml", *sets, "--json").stdout)
    amount = report["steps"]["prompts to answer"]["left"] if limit == "requests_per_minute" else report["tokens"]
    assert report["waits"] == pytest.approx(amount / per_minute, rel=0.001)
    assert f"at least {report['waits']:.1f} minutes by limits per minute" in ohr("plan", "small.yaml", *sets).stdout


def test_a_timed_plan_is_not_shorter_than_the_limits_of_its_server(ohr, home, chat_server):
    chat_server.replies = [(200, {}, json.dumps({"choices": [{"message": {"content": "yes"}}]}))] * 10_000
    server = f"kind: openai, base_url: '{chat_server.url}', model: m"
    few = ("--set", "evaluate=[generation]", "--set", "knowledge_bases=[{name: ground_truth}]", "--executor", "inline")
    ohr("run", "small.yaml", "--set", f"generators=[{{{server}}}]", *few, "--no-figures", "--no-report")
    report = json.loads(
        ohr("plan", "small.yaml", "--set", f"generators=[{{{server}, requests_per_minute: 1}}]", "--json").stdout
    )
    assert report["minutes"] == report["waits"] >= report["steps"]["prompts to answer"]["left"] > 0


def test_a_batch_waits_for_no_limit_per_minute(ohr):
    sets = ("--set", f"generators=[{LIMITED.format(limit='requests_per_minute: 2, batch: true')}]")
    assert json.loads(ohr("plan", "small.yaml", *sets, "--json").stdout)["waits"] == 0


def test_pages_wait_for_the_limits_of_an_engine(ohr):
    scan = "{kind: vlm, base_url: 'http://127.0.0.1:9', model: m, requests_per_minute: 2}"
    sets = ("--set", f"knowledge_bases=[{{name: ground_truth}}, {{name: a, ocr: {scan}}}]")
    report = json.loads(ohr("plan", "small.yaml", *sets, "--json").stdout)
    assert report["waits"] == report["steps"]["pages to read"]["left"] / 2 > 0


@pytest.mark.parametrize(
    ("chunker", "top_k"),
    [
        ("{kind: page}", 2),
        ("{kind: tokens, size: 64}", 6),
        pytest.param("{kind: page}", 6, marks=pytest.mark.acceptance),
        pytest.param("{kind: tokens, size: 64}", 2, marks=pytest.mark.acceptance),
    ],
)
def test_the_planned_prompt_tokens_are_those_that_the_run_sends(ohr, chunker, top_k):
    sets = ("--set", f"chunker={chunker}", "--set", f"retrievers=[{{kind: bm25, top_k: {top_k}}}]")
    sets += ("--set", "knowledge_bases.1.text_noise.rate=0.6")
    planned = json.loads(ohr("plan", "small.yaml", *sets, "--json").stdout)["tokens"]
    inline = ("--executor", "inline", "--no-figures", "--no-report")
    sent = json.loads(ohr("run", "small.yaml", *sets, *inline, "--json").stdout)["tokens"]["in"]
    assert planned == pytest.approx(sent, rel=0.15)


def test_a_plan_says_how_many_documents_losses_need(ohr):
    done = ohr("plan", "small.yaml").stdout
    (line,) = [line for line in done.splitlines() if "needs" in line]
    assert line.startswith("with ")
    needs = re.findall(r"points needs ([\d,]+ to [\d,]+ documents) \(([\d,]+ to [\d,]+ questions)\)", line)
    detected = json.loads(ohr("plan", "small.yaml", "--detect", "0.05", "--json").stdout)["detects"]
    size = detected["size"]
    same = [row for row in detected["needed"] if row["per_document"] == size["per_document"] and row["draws"] == 3]
    ends = [each["documents"] for each in detected["enough"]]
    questions = [[ceil(end * size["per_document"]) for end in range_] for range_ in ends]
    assert needs == [
        (ranged(documents, "document"), ranged(asked, "question"))
        for documents, asked in zip(ends, questions, strict=True)
    ]
    assert ends[1] == same[0]["documents"]
    assert ends == sorted(ends) and all(low < high for low, high in ends)
    assert [each["questions"] for each in detected["enough"]] == questions
    assert "points needs" not in ohr("plan", "small.yaml", "--detect", "0.05").stdout


def test_a_loss_is_found_among_the_comparisons_that_are_judged_together(ohr):
    sets = ("--set", "knowledge_bases.1.text_noise.rate=[0.1, 0.3, 0.5, 0.7, 0.9]", "--set", "evaluate=[retrieval]")
    sets += ("--set", "generators=[]", "--set", "retrievers=[{kind: bm25}, {kind: bm25, name: other, top_k: 1}]")
    few, many = (
        json.loads(ohr("plan", "small.yaml", *more, "--json").stdout)["detects"]
        for more in (("--set", "knowledge_bases.1.text_noise.rate=0.5"), sets)
    )
    assert few["size"]["comparisons"] == {"retrieval": 1, "generation": 1, "overall": 1}
    assert many["size"]["comparisons"] == {"retrieval": 5}  # of each retriever: it is no comparison of the other's
    assert (few["fewest"], many["fewest"]) == (6, 8)
    for fewer, more in zip(few["enough"], many["enough"], strict=True):
        for end in (0, 1):
            assert fewer["documents"][end] < more["documents"][end] < 3 * fewer["documents"][end]
    assert ", 5 comparisons judged together) " in ohr("plan", "small.yaml", *sets).stdout


@pytest.mark.parametrize(
    ("bases", "warning"),
    [
        ("[{name: a, text_noise: {kind: formatting, rate: 0.5}}]", "no condition can be compared with clean text, so "),
        ("[{name: a}]", "no condition has noise or is read by an OCR engine: "),
    ],
)
def test_a_design_that_compares_nothing_finds_no_loss(ohr, bases, warning):
    sets = ("--set", f"knowledge_bases={bases}")
    report = json.loads(ohr("plan", "small.yaml", *sets, "--json").stdout)
    assert all(set(ends) <= {None, inf} for ends in report["detects"]["finds"].values())
    printed = ohr("plan", "small.yaml", *sets).stdout
    assert "finds no loss: it compares nothing with clean text" in printed
    assert "a loss of 10 points" not in printed
    for command in ("plan", "check"):
        warnings = json.loads(ohr(command, "small.yaml", *sets, "--json").stdout)["warnings"]
        assert any(line.startswith(warning) for line in warnings)
        whole = json.loads(ohr(command, "small.yaml", "--json").stdout)["warnings"]
        assert not any("what noise costs" in line for line in whole)


def test_a_plan_of_scans_counts_comparisons_with_the_plain_scan(ohr):
    scan = "{name: N, ocr: {kind: tesseract}, image_noise: [{kind: psf_blur, severity: S}]}"
    noisy = ", ".join(scan.replace("N", f"n{level}").replace("S", level) for level in ("0.3", "0.6"))
    sets = ("--set", f"knowledge_bases=[{{name: plain, ocr: {{kind: tesseract}}}}, {noisy}]")
    report = json.loads(ohr("plan", "small.yaml", *sets, "--json").stdout)
    assert report["detects"]["size"]["comparisons"] == {"retrieval": 2, "generation": 2, "overall": 2}
    assert not any("what noise costs" in line for line in report["warnings"])


def test_a_loss_that_no_number_of_documents_finds_needs_more_draws():
    size = Design(20, 3.0, 0.0, 1)
    losses = [
        Enough(0.1, Range(1234.0, 2010.0), Range(3702.0, 6030.0)),
        Enough(0.05, Range(5000.0, inf), Range(15000.0, inf)),
        Enough(0.02, Range(inf, inf), Range(inf, inf)),
    ]
    assert enough_sentence(losses, size) == (
        "with 3.0 questions each, a loss of 10 points needs 1,300 to 2,100 documents (3,800 to 6,100 questions); one "
        "of 5 points needs 5,000 documents or more (15,000 questions or more); one of 2 points needs more draws: no "
        "number of documents suffices"
    )


def test_neither_a_plan_nor_a_check_needs_the_key(ohr):
    server = "generators=[{kind: openai, base_url: 'http://127.0.0.1:9', model: m, api_key_env: OHR_ABSENT_API_KEY}]"
    for command in ("plan", "check"):
        result = ohr(command, "small.yaml", "--set", server, "--json")
        assert result.exit_code == 0
        assert any(
            "OHR_ABSENT_API_KEY is not set; a run needs it" in line for line in json.loads(result.stdout)["warnings"]
        )
    assert ohr("run", "small.yaml", "--set", server).exit_code != 0
