"""The file of candidates: what is written is read, and a line that was edited wrongly is named."""

import json

import pytest
from hypothesis import given
from hypothesis import strategies as st

from ohr.errors import DataError
from ohr.questions.candidate import Candidate, Evidence, Record, Removal, read_records, write_candidates

RENT = Candidate(
    "q1", "How much is the rent?", ("5 florins", "5"), "law/lease", (Evidence(0, "The rent is 5 florins.", 3, 25),)
)
NOTICE = Candidate(
    "q2",
    "何时终止？\u2028",
    (),
    "law/租约",
    (Evidence(1, "a"), Evidence(2, "b")),
    "multi",
    "",
    "Integer",
    "zh",
    "joined",
    "writer",
    ("q1", "q0"),
    {"z": "1", "a": "2"},
)
GONE = Removal("q2", "context_dependent", 'says "this table"', undecided=True)
LINE = {"id": "q", "question": "a", "answers": ["b"], "document": "d/e", "evidence": [{"page": 0, "text": "c"}]}


def test_what_is_written_is_read(tmp_path):
    path = tmp_path / "candidates.jsonl"
    write_candidates(path, [RENT, NOTICE], [GONE, Removal("q9", "x", "of no candidate")])
    assert read_records(path) == [Record(RENT), Record(NOTICE, GONE)]
    assert json.loads(path.read_text(encoding="utf-8").split("\n")[0]) == {
        "id": "q1",
        "question": "How much is the rent?",
        "answers": ["5 florins", "5"],
        "document": "law/lease",
        "evidence": [{"page": 0, "text": "The rent is 5 florins.", "start": 3, "end": 25}],
        "source": "text",
        "task": "understanding",
        "answer_form": "String",
        "language": "en",
        "origin": "written",
    }


def test_equal_candidates_give_equal_bytes(tmp_path):
    again = Candidate(**{name: getattr(NOTICE, name) for name in NOTICE.__slots__} | {"notes": {"a": "2", "z": "1"}})
    for name, candidate in (("one", NOTICE), ("two", again)):
        write_candidates(tmp_path / f"{name}.jsonl", [candidate], [GONE])
    assert (tmp_path / "one.jsonl").read_bytes() == (tmp_path / "two.jsonl").read_bytes()


texts = st.text(st.characters(exclude_categories=["Cs"]))


@given(st.builds(Candidate, texts.filter(str.strip), texts, st.tuples(texts), texts, st.tuples(
    st.builds(Evidence, st.integers(-1, 99), texts, st.integers(-1, 99), st.integers(-1, 99))
), notes=st.dictionaries(texts, texts)), st.builds(Removal, texts, texts, texts, st.booleans()))  # fmt: skip
def test_any_text_is_read_as_it_was_written(tmp_path_factory, candidate, removal):
    path = tmp_path_factory.getbasetemp() / "any.jsonl"
    removal = Removal(candidate.id, removal.rule or "rule", removal.reason, removal.undecided)
    write_candidates(path, [candidate], [removal])
    assert read_records(path) == [Record(candidate, removal)]


@pytest.mark.parametrize(
    ("line", "message"),
    [
        ("{", "not readable as JSON"),
        ("[]", "must be an object, as all candidates"),
        (LINE | {"anwsers": []}, "there is no key 'anwsers'.* Did you mean 'answers'?"),
        (LINE | {"evidence": [{"page": 0, "txt": "c"}]}, "there is no key 'txt'.* Did you mean 'text'?"),
        (LINE | {"evidence": [{"page": "one", "text": "c"}]}, r"evidence\.0\.page must be a valid integer.*got 'one'"),
        (LINE | {"evidence": [3]}, r"evidence\.0 must be"),
        (LINE | {"answers": ["b", 3]}, r"answers\.1 must be a valid string \(got 3\)"),
        ({name: value for name, value in LINE.items() if name != "question"}, "question is missing"),
        (LINE | {"id": " "}, "id is empty"),
        (LINE | {"source": "video"}, "source must be 'text', 'table'.*got 'video'"),
        (LINE | {"because": "x"}, "removed_by is missing"),
        (LINE | {"id": "first"}, r"the id 'first' is that of .*candidates\.jsonl:1, too"),
    ],
)
def test_a_wrong_line_is_named(tmp_path, line, message):
    path = tmp_path / "candidates.jsonl"
    text = line if isinstance(line, str) else json.dumps(line)
    path.write_text(json.dumps(LINE | {"id": "first"}) + f"\n\n{text}\n")
    with pytest.raises(DataError, match=rf"candidates\.jsonl:3: .*{message}"):
        read_records(path)
