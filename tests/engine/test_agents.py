"""Agents in the engine: rounds, calls made once, budgets, failures, tables."""

from pathlib import Path

import pytest

from ohr.contracts import Completion
from ohr.errors import PluginError, SpecError
from ohr.results.run import Run

from .conftest import Home, continued, rows, values, warnings

CREW = Path(__file__).parents[1] / "crew.py"
SPEC = """\
benchmark: {{kind: tiny}}
knowledge_bases:
  - {{name: clean}}
  - {{name: dosed, text_noise: {{kind: formatting, rate: 0.5}}}}
chunker: {{kind: page}}
agents:
  - {{kind: scout, model: {{kind: clerk, log: {log}}}, retriever: {{kind: bm25}}, {more}}}
"""
SIGHT = """\
benchmark: {{kind: tiny}}
knowledge_bases:
  - {{name: clean}}
  - {{name: dosed, text_noise: {{kind: formatting, rate: 0.5}}}}
  - {{name: smudged, image_noise: {{kind: smudge, severity: 0.6}}, ocr: {{kind: pixels}}}}
agents:
  - {{kind: watcher, model: {{kind: clerk, sees: true, log: {log}}}, retriever: {{kind: eye}}, {more}}}
"""


class Agents(Home):
    plugins = (CREW, *Home.plugins)

    def agents(self, spec=SPEC, more=""):
        return self.run(spec.format(log=self.folder / "log", more=more))

    def crowd(self, spec, members, workers=None):
        """Run many agents: by name, what each one has more than the spec's, and a change of its line."""
        head, line = spec.split("agents:\n")
        lines = [
            line.format(log=self.folder / "log", more=f"name: {name}, {more}").replace(*change or ("", ""))
            for name, (more, *change) in members.items()
        ]
        return self.run(head.format() + "agents:\n" + "".join(lines), workers=workers)


BAD = {
    "raise": "RuntimeError: no hands",
    "raise late": "RuntimeError: no hands",
    "forever": "did not end within 1,000 steps",
    "number": "yielded 7, which is neither Ask nor Search",
    "empty": "yielded no step",
    "role": "yielded a step for 'boss'; it has model",
    "turns": "yielded a call without turns",
    "assistant": "yielded a call whose last turn is the assistant's",
    "outcome": "returned '1900', which is no Outcome",
    "end": "ended as 'gone'",
    "answer": "returned an answer, and ended as budget",
    "far page": "which is not on the desk",
    "reversed box": "has no pixel of a picture",
    "k": "yielded a search of 0 hits for 'x'",
    "read": "reads 'law/0', which is not a page on the desk",
    "letters": "whose parts are str",
    "no fit": "cannot have 1000 to 10 pixels",
}
LOOKING = ("far page", "reversed box", "no fit")
CLEAN = "".join(line for line in SPEC.splitlines(keepends=True) if "dosed" not in line)
BLIND = "  - {name: blind, image_noise: {kind: smudge, severity: 0.6}}\n"
OTHERS = {
    "asks forever": ("bad: asks forever, calls: 3",),
    "instructed": ("answer_form: protocol",),
    "oracle": ("", "kind: bm25", "kind: oracle"),
    "plain": ("", "kind: scout", "kind: plain"),
    "counter": ("", "kind: scout", "kind: counter"),
    "em": ("metric: {kind: em}", "kind: scout", "kind: voter"),
    "f1": ("metric: {kind: f1}", "kind: scout", "kind: voter"),
}
HYPOTHESIS = """\
hypotheses:
  - {{name: hurts, compare: [clean, dosed], stage: overall, expect: worse, {more}}}
"""
BESIDE = "retrievers: [{kind: bm25}]\ngenerators: [{kind: parrot}]\n"
MORE = """\
  - {name: finds, compare: [clean, dosed], stage: retrieval, expect: worse, retriever: scout, metric: mrr}
metrics: [{kind: judge, generator: {kind: grader}}, {kind: grounded}]
decompose: true
"""


def bad_ones(looking):
    """Return agents that differ in what is bad, and in `calls`, since `bad` is in no key."""
    return {bad: (f"bad: {bad}, calls: {4 + n}",) for n, bad in enumerate(BAD) if (bad in LOOKING) == looking}


@pytest.fixture
def home(tmp_path):
    return Agents(tmp_path)


@pytest.fixture(scope="module")
def scouted(tmp_path_factory):
    return Agents(tmp_path_factory.mktemp("scouted")).agents(SPEC + HYPOTHESIS.replace("{more}", ""))


@pytest.fixture
def after(scouted, home):
    """A home in which that run was made."""
    continued(home, scouted).write((SPEC + HYPOTHESIS.replace("{more}", "")).format(log=home.folder / "log", more=""))
    return home


@pytest.fixture(scope="module")
def beside(tmp_path_factory):
    """A run of an agent beside a retriever and a generator, with all that may be asked about them."""
    home = Agents(tmp_path_factory.mktemp("beside"))
    about = HYPOTHESIS.format(more="generator: scout") + MORE
    return home.run(SPEC.format(log=home.folder / "log", more="") + BESIDE + about)


@pytest.fixture(scope="module")
def watched(tmp_path_factory):
    """A run of agents that look at pages."""
    spec = SIGHT.replace("agents:", BLIND.replace("{", "{{").replace("}", "}}") + "agents:")
    return Agents(tmp_path_factory.mktemp("watched")).crowd(spec, {"watcher": ("",), **bad_ones(True)})


@pytest.fixture(scope="module")
def crowd(tmp_path_factory):
    """A run of many agents."""
    return Agents(tmp_path_factory.mktemp("crowd")).crowd(CLEAN, bad_ones(False) | OTHERS)


def log(done):
    return Agents(done.folder.parents[2]).log("log")


def failed(done, name):
    return [failure for failure in done.ledger.failures if failure.item.startswith(f"{name} on ")]


def test_an_agent_answers_in_the_stage_overall_and_its_pages_are_scored_as_retrieval(scouted):
    assert not scouted.ledger.failures
    found = values(scouted, stage="overall", metric="em", kb="clean")
    assert len(found) == 8 and set(found.values()) == {1.0}
    for metric in ("recall@shown", "mrr", "ndcg"):
        assert set(values(scouted, stage="retrieval", metric=metric, kb="clean").values()) == {1.0}
    (row,) = rows(scouted, "answers", kb="clean", question_id="q0")
    shown = {name: row[name] for name in ("generator", "retriever", "chunker", "answer", "end", "calls", "searches")}
    assert shown == {
        "generator": "scout", "retriever": None, "chunker": "page", "answer": "1900", "end": "answered", "calls": 1,
        "searches": 1,
    }  # fmt: skip
    assert (row["tokens_in"], row["tokens_out"], row["seconds"], row["pages_shown"], row["shared_calls"]) == (
        10, 2, 0.5, 1, 1,
    )  # fmt: skip


def test_every_step_has_a_row(scouted):
    steps = rows(scouted, "steps", kb="clean", question_id="q0")
    assert [(step["number"], step["kind"], step["role"], step["shared"]) for step in steps] == [
        (1, "ask", "model", True),
        (2, "search", "retriever", False),
        (3, "ask", "model", False),
    ]
    assert steps[1]["query"] == "In what year was the harbour of law/0 built?"
    assert (steps[1]["pages"], steps[2]["pages"], steps[2]["reply"]) == (["law/0:0"], ["law/0:0"], "1900")
    ends = Run(scouted.folder).manifest["agents"]["scout"]["ends"]
    assert ends.keys() == {"answered", "not_answerable"} and sum(ends.values()) == 16


def test_an_equal_call_of_many_questions_is_made_once(scouted):
    assert log(scouted)["Greet."] == 1
    assert scouted.ledger.calls["shared agent calls"] == 1
    assert scouted.ledger.calls["agent questions"] == 16


def test_a_second_run_makes_no_call(after):
    before = after.log("log")
    again = after.agents(more="name: other")  # another run, of the same agent
    assert after.log("log") == before
    assert not again.ledger.calls["agent calls"] and len(rows(again, stage="overall", metric="em")) == 16


def test_calls_are_kept_though_their_question_has_failed(home):
    home.agents(more="bad: raise late")
    before = home.log("log")
    done = home.agents()
    assert not done.ledger.failures
    # the searches and calls of other questions are there
    assert sum(home.log("log").values()) - sum(before.values()) <= 4


def test_text_noise_makes_no_call_of_an_agent_that_reads_images_only(watched):
    assert not failed(watched, "watcher")
    about = {"stage": "overall", "metric": "em", "generator": "watcher"}
    clean, dosed = (values(watched, kb=kb, **about) for kb in ("clean", "dosed"))
    assert clean == dosed and set(clean.values()) == {1.0}
    # of four agents the clean and the smudged ones, without q0 of the three that are bad
    assert watched.ledger.calls["agent questions"] == 4 * 16 - 3 * 2
    assert any("watcher reads page images only" in line for line in warnings(watched))


def test_pictures_are_made_as_they_are_asked_for(watched):
    sizes = {line.rpartition(" ")[2] for line in log(watched)}
    # a page of `tiny` is one pixel high and as wide as its text is long
    assert all(size.endswith("x1") for size in sizes)
    widths = sorted(int(size.partition("x")[0]) for size in sizes)
    assert widths[0] * 2 <= widths[-1] + 1


@pytest.mark.parametrize("bad", BAD)
def test_an_agent_that_breaks_its_contract_fails_its_question_only(watched, crowd, bad):
    done = watched if bad in LOOKING else crowd
    failures = failed(done, bad)
    assert failures and all(failure.item.endswith(": q0") for failure in failures)
    assert all(BAD[bad] in failure.reason for failure in failures)
    scores = rows(done, stage="overall", metric="em", kb="clean", generator=bad)
    assert {row["question_id"]: (row["status"], row["value"]) for row in scores}["q0"] == ("failed", 0.0)
    assert sum(row["value"] for row in scores) == 7


def test_an_agent_without_a_call_left_ends_as_budget(crowd):
    assert not failed(crowd, "asks forever")
    (row,) = rows(crowd, "answers", kb="clean", question_id="q0", generator="asks forever")
    assert (row["end"], row["answer"], row["calls"]) == ("budget", "", 3)
    (score,) = rows(crowd, stage="overall", metric="em", kb="clean", question_id="q0", generator="asks forever")
    assert score["status"] == "ok"


def test_what_fails_in_a_step_or_is_raised_in_the_last_moments_fails_its_question_only(home):
    members = {
        "refused": ("", "kind: clerk,", "kind: clerk, refuses: 'harbour of law',"),
        "last": ("bad: last word, calls: 3", "kind: clerk,", "kind: clerk, refuses: refuse,"),
    }
    done = home.crowd(SPEC, members)
    found = {failure.item: failure.reason for failure in done.ledger.failures}
    assert found == {
        f"{name} on {kb}: q0": f"step {step}, model: refused"
        for name, step in {"refused": 3, "last": 1}.items()
        for kb in ("clean", "dosed")
    }


def test_the_index_scope_can_be_one_document(home):
    near = home.run(SPEC.format(log=home.folder / "log", more="") + "index_scope: document\n")
    steps = rows(near, "steps", kind="search")
    by_question = {row["question_id"]: row["document"] for row in rows(near, stage="overall", metric="em")}
    assert all(step["pages"][0].startswith(by_question[step["question_id"]]) for step in steps)
    assert Run(near.folder).manifest["spec"]["index_scope"] == "document"


def test_an_oracle_finds_for_the_question_whatever_the_query(crowd):
    assert set(values(crowd, stage="retrieval", metric="recall@shown", retriever="oracle").values()) == {1.0}


def test_an_agent_beside_a_retriever_and_a_generator(beside):
    assert not beside.ledger.failures
    assert {row["generator"] for row in rows(beside, stage="overall", metric="em")} == {"scout", "parrot"}
    assert {row["end"] for row in rows(beside, "answers", generator="parrot")} == {None}


@pytest.mark.parametrize(
    ("change", "words"),
    [
        ("model: {kind: clerk}", "must read page images, and clerk reads text only"),
        ("retriever: {kind: bm25}", "must look at page images, and bm25 reads text"),
        ("retriever: {kind: lens}", r"^\S+: agents.0.retriever.kind: Choose one of: .*Did you mean"),
        ("answer_form: short", "native"),
    ],
)
def test_parts_that_do_not_fit_are_refused_before_any_work(home, change, words):
    spec = SIGHT.format(log=home.folder / "log", more="")
    key = change.partition(":")[0]
    parts = {
        "model": f"model: {{kind: clerk, sees: true, log: {home.folder / 'log'}}}",
        "retriever": "retriever: {kind: eye}",
    }
    with pytest.raises(SpecError, match=words):
        home.run(spec.replace(parts[key], change) if key in parts else spec.replace("}, }", f"}}, {change}}}"))


def test_image_noise_without_an_engine_needs_agents_that_read_images_only(home, watched):
    with pytest.raises(SpecError, match="image noise needs"):
        home.run(SPEC.format(log=home.folder / "log", more="").replace("chunker:", BLIND + "chunker:"))
    assert values(watched, stage="overall", metric="em", kb="blind", generator="watcher")


@pytest.mark.parametrize(
    ("more", "further", "words"),
    [
        ("", "evaluate: [retrieval]\n", "evaluated in the stage overall"),
        ("name: parrot", BESIDE, "'parrot' is a retriever or generator too"),
    ],
    ids=["stage", "name"],
)
def test_agents_need_the_stage_overall_and_a_name_of_their_own(home, more, further, words):
    with pytest.raises(SpecError, match=words):
        home.run(SPEC.format(log=home.folder / "log", more=more) + further)


def test_the_protocol_form_puts_the_instruction_on_the_desk(crowd):
    assert any("Answer with one or two words" in line for line in log(crowd))


def test_a_hypothesis_may_be_about_an_agent(home, scouted, beside):
    (row,) = rows(beside, "hypotheses", name="hurts")
    assert (row["generator"], row["retriever"], row["n"]) == ("scout", None, 8)
    assert rows(scouted, "hypotheses")[0]["generator"] == "scout"
    spec = SPEC.format(log=home.folder / "log", more="") + BESIDE
    with pytest.raises(SpecError, match="name one generator of parrot, scout"):
        home.run(spec + HYPOTHESIS.format(more=""))
    with pytest.raises(SpecError, match="'scout' has its own"):
        home.run(spec + HYPOTHESIS.format(more="generator: scout, retriever: bm25"))


def test_judges_and_metrics_of_cases_score_answers_of_agents(beside):
    about = {"stage": "overall", "kb": "clean", "generator": "scout"}
    scores = values(beside, metric="judge", **about)
    assert len(scores) == 8 and set(scores.values()) == {1.0}
    assert values(beside, metric="grounded", **about)
    assert len(rows(beside, "judgements", **about)) == 8


def test_answers_that_are_made_again_are_scored_again(after, scouted):
    before = after.log("log").total()
    again = after.run_file(after.folder / "spec.yaml", fresh="answers")
    assert again.ledger.calls["agent questions"] == 16 and again.folder.name != scouted.folder.name
    assert after.log("log").total() > before  # calls are made again, not read


def test_the_loss_of_an_agent_is_not_split_by_stage(beside):
    assert "decompose: scout is an agent, which reads what it likes: its loss is not split" in warnings(beside)
    assert {row["generator"] for row in rows(beside, "swap_scores", stage="overall")} == {"parrot"}


def test_questions_without_an_answer_are_counted_in_a_warning(crowd):
    assert Run(crowd.folder).manifest["agents"]["asks forever"]["ends"] == {"answered": 7, "budget": 1}
    assert "asks forever: 1 of 8 questions ended without an answer: budget 1" in warnings(crowd)


def test_a_hypothesis_may_be_about_the_pages_of_an_agent(home, beside):
    (row,) = rows(beside, "hypotheses", name="finds")
    assert (row["retriever"], row["metric"], row["n"]) == ("scout", "mrr", 8)
    spec = SPEC.format(log=home.folder / "log", more="") + BESIDE
    wanted = HYPOTHESIS.replace("stage: overall", "stage: retrieval")
    with pytest.raises(SpecError, match=r"metric: is required for an agent\. Choose one of: recall@shown, mrr, ndcg"):
        home.run(spec + wanted.format(more="retriever: scout"))
    with pytest.raises(SpecError, match=r"Choose one of: recall@shown, mrr, ndcg\. \(got 'lcs'\)"):
        home.run(spec + wanted.format(more="retriever: scout, metric: lcs"))


@pytest.mark.parametrize(
    ("kind", "words"),
    [
        ("seer", "agent seer: reads page images only, and its retriever 'retriever' searches text"),
        ("idler", "agent idler: `reads` must name what it looks at"),
    ],
)
def test_what_an_agent_looks_at_must_be_true(home, kind, words):
    with pytest.raises(PluginError, match=words):
        home.run(SPEC.format(log=home.folder / "log", more="").replace("kind: scout", f"kind: {kind}"))


def test_an_agent_without_a_yield_has_a_reason(crowd):
    assert {failure.reason for failure in failed(crowd, "plain")} == {
        "after step 0: PluginError: `run` has no `yield`: it returned Outcome"
    }


def test_a_model_that_is_gone_is_not_asked_by_every_question(home):
    text = SPEC.format(log=home.folder / "log", more="in_flight: 1").replace("kind: tiny", "kind: tiny, size: 12")
    done = home.run(text.replace("kind: clerk,", "kind: clerk, refuses: 'Greet',") + "retries: 0\n")
    assert len(done.ledger.failures) == 48
    assert home.log("log").total() == 20  # of the first step; the second asks nothing
    assert any("not asked: 20 calls in a row failed" in failure.reason for failure in done.ledger.failures)


@pytest.mark.parametrize(
    "question",
    [
        "quarry of textbook",
        pytest.param("harbour of law", marks=pytest.mark.acceptance),
    ],
)
def test_a_question_that_ends_its_process_is_the_only_one_to_fail(home, question):
    text = CLEAN.format(log=home.folder / "log", more="").replace("kind: clerk,", f"kind: bomb, on: {question},")
    done = home.run(text, workers=1)
    culprits = [q for q in done.ledger.failures if "worker process died" in q.reason]
    asked = rows(done, "questions")
    wanted = {f"scout on clean: {q['question_id']}" for q in asked if question in q["text"]}
    assert wanted and {failure.item for failure in culprits} == wanted and len(done.ledger.failures) == len(wanted)
    assert sum(values(done, stage="overall", metric="em").values()) == 8 - len(wanted)


@pytest.mark.acceptance
def test_a_worker_that_is_killed_while_questions_are_asked_costs_no_result(home):
    mark = home.folder / "mark"
    text = CLEAN.format(log=home.folder / "log", more="").replace("kind: clerk,", f"kind: mortal, mark: {mark},")
    done = home.run(text, workers=2)
    assert mark.exists() and not done.ledger.failures
    assert sum(values(done, stage="overall", metric="em").values()) == 8


def test_a_question_of_a_thousand_calls_ends_and_one_of_more_steps_fails(home):
    members = {"long": ("bad: asks forever, calls: 1000",), "longer": ("bad: asks forever, calls: 1001",)}
    done = home.crowd(CLEAN, members)
    assert {failure.item: failure.reason for failure in done.ledger.failures} == {
        "longer on clean: q0": "after step 1000: PluginError: did not end within 1,000 steps"
    }
    (row,) = rows(done, "answers", question_id="q0", generator="long")
    assert (row["end"], row["calls"]) == ("budget", 1000)
    assert len(rows(done, "steps", question_id="q0", agent="long")) == 1000


def test_an_agent_that_never_returns_or_swallows_its_time_limit_fails_alone(home):
    members = {"loop": ("bad: loop, calls: 3",), "swallow": ("bad: swallow, calls: 4",)}
    done = home.crowd("limits: {{seconds: 6}}\nretries: 0\n" + CLEAN, members, workers=1)
    assert {failure.item for failure in done.ledger.failures} == {"loop on clean: q0", "swallow on clean: q0"}
    assert all("took longer than 6 seconds" in failure.reason for failure in done.ledger.failures)
    for name in members:
        assert sum(values(done, stage="overall", metric="em", generator=name).values()) == 7


def test_numbers_of_numpy_are_numbers(crowd):
    assert not failed(crowd, "counter")
    assert set(values(crowd, stage="overall", metric="em", kb="clean", generator="counter").values()) == {1.0}


def test_a_stage_that_is_neither_model_nor_retriever_is_in_the_key(crowd):
    for metric in ("em", "f1"):
        assert {row["answer"] for row in rows(crowd, "answers", generator=metric)} == {metric}


def test_a_store_that_is_full_stops_the_run_and_asks_nothing_again(home, monkeypatch):
    from ohr.errors import StoreError
    from ohr.store.local import LocalStore

    put_many = LocalStore.put_many

    def full(self, items):
        if any(isinstance(value, Completion) for value in items.values()):
            raise StoreError("no space left on device")
        put_many(self, items)

    monkeypatch.setattr(LocalStore, "put_many", full)
    with pytest.raises(StoreError, match="no space left"):
        home.agents()
    assert home.log("log").total() == 1


def test_fresh_pages_are_indexed_again(after):
    again = after.run_file(after.folder / "spec.yaml", fresh="all")
    assert again.ledger.calls["indexes"] == 8  # four domains, clean and dosed


def test_errors_of_an_engine_on_clean_images_are_looked_past_not_repaired(home):
    spec = SIGHT.format(log=home.folder / "log", more="").replace(
        "agents:", "  - {name: read, ocr: {kind: pixels}}\nagents:"
    )
    done = home.run(spec + BESIDE)
    verdicts = {row["condition"]: row["verdict"] for row in rows(done, "repair")}
    assert verdicts["read"] == verdicts["dosed"] == "looks past it" != verdicts["smudged"]
