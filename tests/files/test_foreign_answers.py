"""Files of answers as RAGAS, DeepEval, promptfoo and inspect_ai write them."""

import csv
import json
import struct
import zipfile
import zlib

import pyarrow
import pyarrow.parquet
import pytest
from hypothesis import given
from hypothesis import strategies as st

from ohr.errors import DataError
from ohr.files.foreign_answers.answer_rows import AnswerRow
from ohr.files.foreign_answers.layouts import LAYOUTS, read_foreign, written

RENT = AnswerRow(
    where="",
    question="When is rent due?",
    answer="in May",
    contexts=('Rent is due in "May".', "Late 'rent'\ncosts 5."),
    references=("in May",),
    evidence=("Rent is due in May.",),
)
PAYER = AnswerRow(where="", question="Who pays?", answer="the tenant", contexts=(), references=("tenant",))

RAGAS = [
    {
        "user_input": RENT.question,
        "retrieved_contexts": list(RENT.contexts),
        "reference_contexts": list(RENT.evidence),
        "response": RENT.answer,
        "reference": RENT.references[0],
    },
    {
        "user_input": PAYER.question,
        "retrieved_contexts": [],
        "reference_contexts": None,
        "response": PAYER.answer,
        "reference": PAYER.references[0],
    },
]


def put(folder, name, content):
    path = folder / name
    text = content if isinstance(content, str) else json.dumps(content, ensure_ascii=False)
    path.write_text(text, encoding="utf-8")
    return path


def put_csv(folder, name, rows):
    path = folder / name
    with path.open("w", newline="", encoding="utf-8") as opened:
        writer = csv.DictWriter(opened, list(rows[0]))
        writer.writeheader()
        writer.writerows(rows)
    return path


def printed(texts):
    """Return a list of texts as NumPy prints it."""
    return f"[{' '.join(map(repr, texts))}]"


def cells(listed):
    contexts = {row["user_input"]: listed(row["retrieved_contexts"]) for row in RAGAS}
    evidence = {RENT.question: listed(RENT.evidence), PAYER.question: ""}
    return [
        {**row, "retrieved_contexts": contexts[row["user_input"]], "reference_contexts": evidence[row["user_input"]]}
        for row in RAGAS
    ]


def lines(records):
    return "".join(json.dumps(record) + "\n" for record in records)


@pytest.mark.parametrize("form", ["lines", "list", "columns", "places", "json", "python", "numpy"])
def test_every_form_of_a_ragas_data_set_has_the_same_rows(tmp_path, form):
    match form:
        case "lines":
            path = put(tmp_path, "a.jsonl", lines(RAGAS))
        case "list":
            path = put(tmp_path, "a.json", RAGAS)
        case "columns":
            path = put(tmp_path, "a.json", {name: [row[name] for row in RAGAS] for name in RAGAS[0]})
        case "places":
            columns = {name: {str(at): row[name] for at, row in enumerate(RAGAS)} for name in RAGAS[0]}
            path = put(tmp_path, "a.json", columns)
        case _:
            written_as = {"json": json.dumps, "python": lambda texts: str(list(texts)), "numpy": printed}[form]
            path = put_csv(tmp_path, "a.csv", cells(written_as))
    answered = read_foreign(path)
    assert (answered.layout, answered.rows, answered.notes) == ("ragas", (RENT, PAYER), ())


@pytest.mark.parametrize("reference", ["ground_truth", "ground_truths"])
def test_older_columns_of_ragas_are_read(tmp_path, reference):
    truth = list(RENT.references) if reference.endswith("s") else RENT.references[0]
    record = {"question": RENT.question, "contexts": list(RENT.contexts), "answer": RENT.answer, reference: truth}
    (row,) = read_foreign(put(tmp_path, "a.jsonl", lines([record]))).rows
    assert (row.question, row.contexts, row.answer, row.references) == (
        RENT.question,
        RENT.contexts,
        RENT.answer,
        RENT.references,
    )


def test_contexts_that_are_null_text_or_missing_are_told_apart(tmp_path):
    records = [
        {"user_input": f"{at}?", "response": "x", "retrieved_contexts": given}
        for at, given in enumerate([None, "one text"])
    ]
    answered = read_foreign(put(tmp_path, "a.jsonl", lines([*records, {"user_input": "2?", "response": None}])))
    assert [row.contexts for row in answered.rows] == [None, ("one text",), None]
    assert [row.answer for row in answered.rows] == ["x", "x", ""]
    assert answered.notes == ("1 row whose contexts are one text, taken as one context",)


CASES = [
    {
        "input": RENT.question,
        "actual_output": RENT.answer,
        "expected_output": RENT.references[0],
        "retrieval_context": list(RENT.contexts),
        "context": list(RENT.evidence),
        "additional_metadata": {"question_id": "lease-1"},
    },
    {"input": PAYER.question, "actual_output": PAYER.answer, "expected_output": "tenant", "retrieval_context": []},
]


def test_test_cases_of_deepeval_are_read_from_data_sets_and_runs(tmp_path):
    camel = {"input": "input", "actual_output": "actualOutput", "expected_output": "expectedOutput"}
    camel |= {"retrieval_context": "retrievalContext", "context": "context", "additional_metadata": "metadata"}
    run = {"testCases": [{"name": "c", **{camel[name]: value for name, value in case.items()}} for case in CASES]}
    files = {"list.json": CASES, "lines.jsonl": lines(CASES), "run.json": run, "latest.json": {"testRunData": run}}
    for name, content in files.items():
        answered = read_foreign(put(tmp_path, name, content))
        assert answered.layout == "deepeval" and answered.rows[1] == PAYER
        assert answered.rows[0].id == "lease-1" and answered.rows[0].contexts == RENT.contexts
        assert answered.rows[0].evidence == RENT.evidence


def test_contexts_that_deepeval_has_joined_are_divided_and_counted(tmp_path):
    row = {
        **CASES[0],
        "retrieval_context": "first|second",
        "context": "first",
        "additional_metadata": "{'question_id': 'l'}",
    }
    answered = read_foreign(put_csv(tmp_path, "a.csv", [row]))
    assert answered.rows[0].contexts == ("first", "second") and answered.rows[0].id == "l"
    assert answered.notes == ("1 row with contexts joined by |, where they are divided: JSON keeps them whole",)


def result(question, output, *, provider="m", prompt="{{question}}", **more):
    response = {} if output is None else {"response": {"output": output}}
    about = {"provider": {"id": provider, "label": ""}, "prompt": {"raw": question, "label": prompt}}
    return {"promptIdx": 0, "testIdx": 0, "vars": {"question": question}, **about, **response, **more}


def test_results_of_promptfoo_have_their_answers_contexts_and_references(tmp_path):
    asserted = {"vars": {}, "assert": [{"type": "contains", "value": "x"}, {"type": "equals", "value": "tenant"}]}
    results = [
        result("When?", "in May", vars={"query": "When?", "context": ["a", "b"], "reference": "May"}),
        result("Who?", "owner", testCase=asserted, error="Expected output to equal", metadata={"question_id": "q2"}),
        result("How?", None, error="rate limit", failureReason=2),
        result("Why?", None),
    ]
    output = {"evalId": "e", "results": {"version": 3, "results": results}, "config": {}}
    answered = read_foreign(put(tmp_path, "a.json", output))
    assert answered.layout == "promptfoo"
    assert [(row.answer, row.error) for row in answered.rows] == [
        ("in May", ""),
        ("owner", ""),
        ("", "rate limit"),
        ("", "no output"),
    ]
    assert answered.rows[0].contexts == ("a", "b") and answered.rows[0].references == ("May",)
    assert answered.rows[1].references == ("tenant",) and answered.rows[1].id == "q2"
    for name, content in {"a.jsonl": lines(results), "b.json": {"version": 3, "results": results}}.items():
        assert read_foreign(put(tmp_path, name, content)).rows == answered.rows


def test_one_system_of_promptfoo_is_picked(tmp_path):
    results = [result("When?", name, provider=name) for name in ("large", "small", "smaller")]
    path = put(tmp_path, "a.json", {"results": {"results": results}})
    assert [row.answer for row in read_foreign(path, pick="LARGE").rows] == ["large"]
    assert [row.answer for row in read_foreign(path, pick="[small] {{question}}").rows] == ["small"]
    for pick, said in [(None, "holds several systems"), ("small", "is several"), ("tiny", "is no system")]:
        with pytest.raises(DataError, match=said) as error:
            read_foreign(path, pick=pick)
        assert "[small] {{question}}" in str(error.value)


def sample(name, text, epoch=1, **more):
    choices = [{"message": {"role": "assistant", "content": text}, "stop_reason": "stop"}]
    return {"id": name, "epoch": epoch, "input": f"{name}?", "target": "May", "output": {"choices": choices}, **more}


def log(*samples, status="success", total=None, **more):
    about = {"task": "t", "dataset": {"samples": len(samples) if total is None else total}}
    return {"version": 2, "status": status, "eval": about, "samples": list(samples), **more}


def test_samples_of_inspect_have_text_targets_metadata_and_errors(tmp_path):
    parts = [{"type": "reasoning", "reasoning": "hm"}, {"type": "text", "text": "in"}, {"type": "text", "text": "May"}]
    asked = [
        {"role": "system", "content": "Be short."},
        {"role": "user", "content": [{"type": "text", "text": "When?"}]},
    ]
    answered = read_foreign(
        put(
            tmp_path,
            "a.json",
            log(
                sample(1, parts, input=asked, target=["May", "in May"]),
                sample(2, "attachment://ab", attachments={"ab": "long"}, metadata={"contexts": ["c"], "document": "d"}),
                sample(3, "half", error={"message": "no model", "traceback": ""}),
            ),
        )
    )
    first, second, third = answered.rows
    assert (first.question, first.answer, first.references, first.id) == ("When?", "in\nMay", ("May", "in May"), "1")
    assert (second.answer, second.contexts, second.document) == ("long", ("c",), "d")
    assert (third.answer, third.error) == ("", "no model")


def test_one_epoch_of_inspect_is_picked(tmp_path):
    path = put(tmp_path, "a.json", log(*(sample("q", f"e{epoch}", epoch) for epoch in (1, 2, 10)), total=1))
    assert read_foreign(path, pick="1").rows[0].answer == "e1"
    assert read_foreign(path, pick="epoch 10").rows[0].answer == "e10"
    with pytest.raises(DataError, match="holds several epochs"):
        read_foreign(path)


def test_a_log_that_lacks_samples_is_refused_without_a_benchmark(tmp_path):
    path = put(tmp_path, "a.json", log(sample(1, "x"), status="error", total=3, error={"message": "no\nmodel"}))
    with pytest.raises(DataError, match=r"ended with status error \(no model\); its log has 1 of 3 samples: continue"):
        read_foreign(path)
    answered = read_foreign(path, whole=False)
    assert answered.notes == ("a.json: the evaluation ended with status error (no model); its log has 1 of 3 samples",)
    whole = put(tmp_path, "b.json", log(sample(1, "x"), sample(2, "", error={"message": "lost"}), status="error"))
    assert [row.error for row in read_foreign(whole).rows] == ["", "lost"]
    with pytest.raises(DataError, match=r"the log has no samples \(its status is started\)"):
        read_foreign(put(tmp_path, "c.json", log(status="started")))


def archive(path, members, *, zstandard):
    """Write a ZIP archive, also with a compression that Python's own module does not know."""
    if not zstandard:
        with zipfile.ZipFile(path, "w", zipfile.ZIP_DEFLATED) as opened:
            for name, content in members.items():
                opened.writestr(name, json.dumps(content))
        return path
    body, directory = b"", b""
    for name, content in members.items():
        data = json.dumps(content).encode()
        packed = pyarrow.Codec("zstd").compress(data, asbytes=True)
        sizes = struct.pack("<HHHHHIIIHH", 45, 0, 93, 0, 33, zlib.crc32(data), len(packed), len(data), len(name), 0)
        tail = struct.pack("<HHHII", 0, 0, 0, 0, len(body))
        directory += b"PK\x01\x02" + struct.pack("<H", 45) + sizes + tail + name.encode()
        body += b"PK\x03\x04" + sizes + name.encode() + packed
    end = struct.pack("<HHHHIIH", 0, 0, len(members), len(members), len(directory), len(body), 0)
    path.write_bytes(body + directory + b"PK\x05\x06" + end)
    return path


@pytest.mark.parametrize("zstandard", [False, True])
def test_an_archive_of_inspect_is_read(tmp_path, zstandard):
    samples = [sample(name, f"a{name}") for name in (10, 2)]
    members = {f"samples/{each['id']}_epoch_1.json": each for each in samples}
    path = archive(tmp_path / "a.eval", {"header.json": log(total=2), **members}, zstandard=zstandard)
    answered = read_foreign(path)
    assert (answered.layout, [row.answer for row in answered.rows]) == ("inspect_ai", ["a2", "a10"])
    killed = archive(tmp_path / "b.eval", {"_journal/start.json": {}, **members}, zstandard=zstandard)
    with pytest.raises(DataError, match="ended with status started; its log has 2 samples"):
        read_foreign(killed)
    cut = tmp_path / "c.eval"
    cut.write_bytes(path.read_bytes()[:-40])
    with pytest.raises(DataError, match=r"is no readable \.eval archive"):
        read_foreign(cut)
    damaged = bytearray(path.read_bytes())
    damaged[80:120] = bytes(40)
    cut.write_bytes(damaged)
    with pytest.raises(DataError, match=r"is no readable \.eval archive"):
        read_foreign(cut)
    with pytest.raises(DataError, match="is no log of inspect_ai: the archive has no header"):
        read_foreign(archive(tmp_path / "d.eval", {"a.json": 1}, zstandard=zstandard))


@pytest.mark.parametrize(
    ("name", "content", "layout", "message"),
    [
        ("a.jsonl", lines([{"user_input": "a?", "retrieved_contexts": ["c"]}]), None, "are user_input, retrieved_cont"),
        ("a.jsonl", lines([{"user_input": "a?", "response": None}]), None, "none of its 1 row has an answer"),
        ("a.jsonl", lines([{"user_input": "a?", "response": "x", "answer": "y"}]), None, "could both be the answer"),
        ("a.jsonl", lines([{"retrieved_contexts": [], "response": "x"}]), None, "are retrieved_contexts, resp"),
        ("a.jsonl", lines([{"user_input": [{"content": "a"}], "response": "x"}]), None, "one text, not a conversation"),
        ("a.jsonl", lines([{"user_input": "a?", "response": "x", "contexts": [None]}]), None, "must be a list"),
        ("a.jsonl", lines([{"user_input": "a?", "response": [[]]}]), None, "an answer must be text"),
        ("a.jsonl", "", "ragas", "holds no answer"),
        ("a.json", {"a": 1}, "ragas", "must be a list of entries.* its columns are a"),
        ("a.json", {"a": 1}, "deepeval", "must be a list of test cases.* its columns are a"),
        ("a.json", {"a": 1}, "promptfoo", r"is no output of promptfoo.*it has a\)"),
        ("a.json", {"a": 1}, "inspect_ai", r"is no log of inspect_ai.*it has a\)"),
        ("a.json", "{", "inspect_ai", "must be JSON: Expecting"),
        ("a.csv", "a,b", "promptfoo", "a file of promptfoo must be JSON: this is a table"),
        ("a.json", {"results": {"results": []}}, None, "holds no answer"),
        ("a.json", {"results": {"results": [7]}}, None, "result 0: must be a mapping"),
        ("a.json", {"results": {"results": [result("a", "b", vars={"x": "1", "y": "2"})]}}, None, "are x, y"),
        ("a.json", [{"input": "a?", "expected_output": "x"}], None, r"\(actual_output.* are input, expected_output"),
        ("a.json", log(7), None, "sample 0: must be a mapping"),
        ("a.csv", "user_input,response\na?,x,y\n", "ragas", "more cells than the header"),
    ],
)  # fmt: skip
def test_what_cannot_be_read_is_refused_with_its_place(tmp_path, name, content, layout, message):
    path = put(tmp_path, name, content)
    with pytest.raises(DataError, match=message) as error:
        read_foreign(path, layout)
    assert str(error.value).startswith(str(path))


def test_a_column_is_named_where_two_could_be_the_answer(tmp_path):
    path = put(tmp_path, "a.jsonl", lines([{"user_input": "a?", "response": "x", "answer": "y"}]))
    assert read_foreign(path, column="answer").rows[0].answer == "y"


@pytest.mark.parametrize(
    "content",
    [
        {"q": "an answer", "r": "another"},
        [{"question_id": "q", "answer": "x", "question": "a?"}],
        [{"question_id": "q", "prediction": "x", "question": "a?", "ground_truth": "y"}],
        {"results": [{"id": "q", "log": {"generated_text": "x"}}]},
    ],
)
def test_files_of_ids_and_answers_stay_what_they_are(tmp_path, content):
    assert read_foreign(put(tmp_path, "a.json", content)) is None


@pytest.mark.parametrize(
    ("content", "options", "message"),
    [
        (RAGAS, {"pick": "x"}, "--pick is for files of several systems"),
        (log(sample(1, "x")), {"column": "x"}, "--column is for tables"),
    ],
)
def test_options_that_a_layout_has_no_use_for_are_refused(tmp_path, content, options, message):
    with pytest.raises(DataError, match=message):
        read_foreign(put(tmp_path, "a.json", content), **options)


WORDS = st.text(st.characters(exclude_categories=["Cs"]), min_size=1, max_size=12).filter(str.strip)
TEXTS = st.lists(WORDS, max_size=3).map(tuple)


@st.composite
def rows(draw):
    failed = draw(st.booleans())
    return AnswerRow(
        where="",
        question=draw(WORDS),
        answer="" if failed else draw(WORDS).strip(),
        id=draw(st.sampled_from(["", "q 1", "law/7"])),
        contexts=draw(st.none() | TEXTS),
        references=draw(TEXTS),
        evidence=draw(TEXTS),
        document=draw(st.sampled_from(["", "law/lease"])),
        error="no reply" if failed else "",
    )


@pytest.mark.parametrize("layout", LAYOUTS)
@given(given_rows=st.lists(rows(), min_size=1, max_size=4))
def test_what_is_written_is_read_again_and_written_the_same(tmp_path_factory, layout, given_rows):
    text, suffix = written(layout, given_rows, {"generator": "m"})
    path = put(tmp_path_factory.mktemp("written"), f"a{suffix}", text)
    again = read_foreign(path)
    held = [(row.question, row.answer, row.contexts, row.references, row.error) for row in again.rows]
    assert again.layout == layout
    assert held == [(row.question, row.answer, row.contexts, row.references, row.error) for row in given_rows]
    assert [(row.evidence, row.document) for row in again.rows] == [(row.evidence, row.document) for row in given_rows]
    # inspect_ai gives a sample without an id its number
    second = text if layout != "inspect_ai" else written(layout, again.rows, {"generator": "m"})[0]
    assert written(layout, read_foreign(put(path.parent, path.name, second)).rows, {"generator": "m"})[0] == second


@pytest.mark.parametrize(
    ("value", "output", "accepted", "answer"),
    [
        ("2", "2", ("2",), "2"),
        ("2.0", '"2.0"', ("2.0", "2"), "2.0"),
        ("1e3", '"1e3"', ("1e3", "1000"), "1e3"),
        ("0", "0", ("0",), "0"),
        ("true", '"true"', ("true", "yes"), "true"),
        ('"false"', "false", ("false",), "false"),
    ],
)
@pytest.mark.parametrize("place", ["assert", "graded", "vars", "set"])
@pytest.mark.parametrize("kind", ["equals", "contains", "icontains"])
def test_numbers_and_flags_of_promptfoo_count_as_their_text(tmp_path, value, output, accepted, answer, place, kind):
    assertion = f'{{"type": "{kind}", "value": {value}}}'
    test = {"assert": f'{{"assert": [{assertion}]}}', "set": f'{{"assert": [{{"assert": [{assertion}]}}]}}'}
    graded = f', "gradingResult": {{"componentResults": [{{"assertion": {assertion}}}]}}' if place == "graded" else ""
    reference = f', "reference": {value}' if place == "vars" else ""
    text = (
        f'{{"results": {{"results": [{{"vars": {{"question": 42{reference}}}, "provider": "p", "prompt": "p",'
        f'"response": {{"output": {output}}}, "testCase": {test.get(place, "{}")}{graded}}}]}}}}'
    )
    (row,) = read_foreign(put(tmp_path, "a.json", text)).rows
    assert (row.question, row.answer, row.references) == ("42", answer, accepted)


def test_all_that_an_answer_must_contain_is_one_accepted_answer(tmp_path):
    held = [{"type": "contains", "value": "May"}, {"type": "icontains", "value": 1964}]
    (row,) = read_foreign(put(tmp_path, "a.json", [result("a?", "x", testCase={"assert": held})])).rows
    assert row.references == ("May, 1964",)
    exact = [*held, {"type": "equals", "value": "in May 1964"}]
    (row,) = read_foreign(put(tmp_path, "a.json", [result("a?", "x", testCase={"assert": exact})])).rows
    assert row.references == ("in May 1964",)


def test_promptfoo_may_have_written_yaml(tmp_path):
    path = tmp_path / "a.yaml"
    path.write_text(
        "results:\n  results:\n  - vars: {question: a?}\n    provider: {id: p}\n    response: {output: '2.0'}\n"
        "    testCase: {assert: [{type: equals, value: 2.0}]}\n"
    )
    answered = read_foreign(path)
    assert (answered.layout, answered.rows[0].references) == ("promptfoo", ("2.0", "2"))


def test_numbers_of_other_programs_count_as_their_text(tmp_path):
    ragas = {"user_input": 42, "response": 2, "reference": 2.0, "retrieved_contexts": [7], "question_id": 12.0}
    (row,) = read_foreign(put(tmp_path, "a.jsonl", lines([ragas]))).rows
    assert (row.question, row.answer, row.references, row.contexts, row.id) == ("42", "2", ("2.0", "2"), ("7",), "12")
    case = {"input": "a?", "actual_output": "2", "expected_output": 2, "context": [1.5], "retrieval_context": []}
    (row,) = read_foreign(put(tmp_path, "b.json", [case])).rows
    assert (row.references, row.evidence) == (("2",), ("1.5",))
    (row,) = read_foreign(put(tmp_path, "c.json", log(sample(1, "2", target=2)))).rows
    assert row.references == ("2",)


def test_parquet_and_layouts_of_pandas_are_answers_too(tmp_path):
    table = pyarrow.Table.from_pylist(RAGAS)
    pyarrow.parquet.write_table(table, tmp_path / "a.parquet")
    split = {"columns": list(RAGAS[0]), "index": [0, 1], "data": [list(row.values()) for row in RAGAS]}
    index = {str(at): row for at, row in enumerate(RAGAS)}
    for path in (tmp_path / "a.parquet", put(tmp_path, "b.json", split), put(tmp_path, "c.json", index)):
        answered = read_foreign(path)
        assert (answered.layout, answered.rows) == ("ragas", (RENT, PAYER))
