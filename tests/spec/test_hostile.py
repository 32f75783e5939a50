"""Specs that are to harm: each is refused in a few sentences, in little time and memory."""

import json
from time import process_time

import pytest

from ohr.spec.read import make_spec
from ohr.spec.servers import sent

from .conftest import BASE

KB = "knowledge_bases: [{}]\n"
CODE = "a" * 50


# --- too many -------------------------------------------------------------------------------------------------


def noises(count: int, rates: str = "[0.1, 0.3]") -> str:
    return ", ".join([f"{{kind: formatting, rate: {rates}}}"] * count)


def numbers(count: int) -> str:
    return ", ".join(str(place / count) for place in range(1, count + 1))


def test_a_chain_of_sweeps_is_counted_before_it_is_spread(faults):
    assert faults(f"{BASE}knowledge_bases:\n- text_noise: [{noises(30)}]\n") == [
        "spec.yaml:5: knowledge_bases.0: text_noise.0.rate (2) x text_noise.1.rate (2) x text_noise.2.rate (2) x "
        "text_noise.3.rate (2) x text_noise.4.rate (2) x 25 more keys make 1,073,741,824 conditions; at most 10,000 "
        "are allowed"
    ]


def test_the_sweeps_of_a_plugin_are_counted_before_they_are_spread(faults):
    swept = f"{{kind: bm25, k1: [{numbers(1000)}], b: [{numbers(1000)}], top_k: {list(range(1, 1001))}}}"
    assert faults(BASE.replace("{kind: bm25}", swept) + KB) == [
        "spec.yaml:2: retrievers.0: k1 (1,000) x b (1,000) x top_k (1,000) make 1,000,000,000 variants; at most 10,000 "
        "are allowed"
    ]


def test_targets_count_as_sweeps(faults):
    noise = f"{{kind: formatting, markdown: [{numbers(200)}], target_r_noise: [{numbers(102)}]}}"
    assert faults(f"{BASE}knowledge_bases: [{{text_noise: {noise}}}]\n") == [
        "spec.yaml:4: knowledge_bases.0.text_noise: markdown (200) x target_r_noise (102) make 20,400 variants; at "
        "most 10,000 are allowed"
    ]


def test_cells_are_counted(faults):
    text = BASE.replace("{kind: bm25}", f"{{kind: bm25, top_k: {list(range(1, 101))}}}")
    noise = f"knowledge_bases: [{{text_noise: {{kind: formatting, rate: [{numbers(90)}]}}}}]\n"
    assert faults(f"{text}chunker: {{kind: tokens, size: {list(range(20, 40))}}}\n{noise}") == [
        "spec.yaml:5: knowledge_bases: knowledge_bases (90) x chunkers (20) x retrievers (100) make 180,000 cells; at "
        "most 10,000 are allowed"
    ]


def test_replicates_count_as_knowledge_bases(faults):
    noise = f"knowledge_bases: [{{text_noise: {{kind: formatting, rate: [{numbers(101)}]}}}}]\n"
    assert faults(f"{BASE}replicates: 100\n{noise}") == [
        "spec.yaml:5: knowledge_bases: make more than 10,000, with 100 replicates of each noisy one"
    ]


def test_time_grows_with_a_sweep_no_faster_than_its_length(spec):
    def seconds(count: int) -> float:
        began = process_time()
        read = spec(f"{BASE}replicates: 1\nknowledge_bases: [{{text_noise: {noises(1, f'[{numbers(count)}]')}}}]\n")
        assert len({base.name for base in read.knowledge_bases}) == count
        return process_time() - began

    seconds(10)  # imports
    assert seconds(4000) < 24 * seconds(500)  # quadratic: 64 times


@pytest.mark.parametrize("place", ["a: {}\n", "name: {}\n", "knowledge_bases: [{{name: {}}}]\n"])
def test_a_bomb_of_aliases_is_refused(faults, place):
    lines = ["bomb: ", "- &a0 [x,x,x,x,x,x,x,x,x]"]
    lines += [f"- &a{n} [{','.join([f'*a{n - 1}'] * 9)}]" for n in range(1, 9)]
    assert faults("\n".join(lines) + "\n" + place.format("*a8")) == [
        "spec.yaml: more than 100,000 keys and list items, aliases expanded"
    ]


def test_a_long_file_is_refused_unread(faults):
    assert faults(BASE + KB + "#" * 500_000) == ["spec.yaml: longer than 500,000 characters"]


@pytest.mark.parametrize("value", ["&a [*a]", "&a {x: *a}", "&a {kind: bm25, x: [*a]}"])
def test_an_anchor_in_itself_is_refused(faults, value):
    assert faults(f"{BASE}{KB}name: {value}\n") == ["spec.yaml: nested too deep, or an anchor holds itself"]


def test_an_alias_that_is_no_bomb_is_taken(spec):
    entry = "{kind: formatting, rate: 0.2}"
    text = f"knowledge_bases: [{{name: a, text_noise: &n {entry}}}, {{name: b, text_noise: *n}}]\nreplicates: 1\n"
    assert [base.text_treatments[0].rate for base in spec(BASE + text).knowledge_bases] == [0.2, 0.2]


# --- values that cannot be ------------------------------------------------------------------------------------


@pytest.mark.parametrize("key", ["retries", "seed", "limit", "sample", "max_failures"])
@pytest.mark.parametrize("value", ["0x" + "f" * 5000, "1" + "0" * 400, "-1" + "0" * 400])
def test_a_huge_number_is_refused_with_its_line(faults, key, value):
    (line,) = faults(f"{BASE}{KB}{key}: {value}\n")
    assert line.startswith(f"spec.yaml:5: not valid YAML: {value[:20]!r}"[:-1])
    assert line.endswith("is a whole number beyond 9223372036854775807") and len(line) < 200


def test_a_number_of_too_many_digits_is_refused_with_its_line(faults):
    (line,) = faults(f"{BASE}{KB}seed: {'9' * 5000}\n")
    assert line.startswith("spec.yaml:5: not valid YAML: '9999") and "is not a valid int" in line


def test_a_seed_has_64_bits(spec):
    assert spec(f"{BASE}{KB}seed: {2**63 - 1}\n").seed == 2**63 - 1


@pytest.mark.parametrize("tag", ["bool", "int", "float"])
def test_a_word_that_is_no_value_of_its_tag_is_refused_with_its_line(faults, tag):
    (line,) = faults(f"{BASE}{KB}seed: !!{tag} x\n")
    assert line.startswith(f"spec.yaml:5: not valid YAML: 'x' is not a valid {tag}")


@pytest.mark.parametrize("sign", ["\\0", "\\ud800"])
@pytest.mark.parametrize(
    ("entry", "key"),
    [
        ("knowledge_bases: [{{ocr: {{kind: precomputed, root: {}}}}}]", "knowledge_bases.0.ocr.root"),
        ("knowledge_bases: [{{ocr: {{kind: tesseract, tessdata: {}}}}}]", "knowledge_bases.0.ocr.tessdata"),
        ("knowledge_bases: [{{}}]\ngenerators: [{{kind: extractive, prompt: {}}}]", "generators.0.prompt"),
    ],
)
def test_a_path_that_cannot_be_is_refused(faults, sign, entry, key):
    found = faults(BASE + entry.format(f'"./a{sign}b"') + "\n")
    assert any(f" {key}: a path must not hold NUL or a lone surrogate (got './a" in line for line in found)
    "\n".join(found).encode()  # a terminal can show it


@pytest.mark.parametrize("key", ["extends", "plugins"])
def test_a_file_name_that_cannot_be_is_refused(faults, key):
    value = '"a\\0b"' if key == "extends" else '["a\\0b"]'
    (line,) = faults(f"{BASE}{KB}{key}: {value}\n", trust=True)
    assert ": no such file: " in line and line.endswith("a\\x00b")


# --- names ----------------------------------------------------------------------------------------------------


@pytest.mark.parametrize("sign", ["\\ud800", "\\e", "\\0", "\\n", "\\uffff", "\\x9b"])
@pytest.mark.parametrize(
    ("text", "key"),
    [
        ("knowledge_bases: [{{name: {}}}]", "spec.yaml:4: knowledge_bases.0.name"),
        ("knowledge_bases: [{{}}]\nchunker: {{kind: page, name: {}}}", "spec.yaml:5: chunker.name"),
        ("knowledge_bases: [{{}}]\ngenerators: [{{kind: extractive, name: {}}}]", "spec.yaml:5: generators.0.name"),
    ],
)
def test_a_name_that_cannot_be_shown_is_refused(faults, sign, text, key):
    name = f'"a{sign}b"'
    (line,) = faults(BASE + text.format(name) + "\n")
    assert line.startswith(f"{key}: must not hold control characters or lone surrogates (got 'a")
    assert line.isprintable()


def test_a_swept_value_that_cannot_be_shown_is_refused(faults):
    model = '{kind: dense, model: ["a\\e", b]}'
    (line,) = faults(BASE.replace("{kind: bm25}", model) + KB)
    assert line == (
        "spec.yaml:2: retrievers.0.name: must not hold control characters or lone surrogates (got 'dense-a\\x1b')"
    )


@pytest.mark.parametrize("name", ["engine #1", "é 中文 😀", "a‮b", "$x^2$ <b>", "formatting-0.3#0"])
def test_any_other_name_is_taken(spec, name):
    read = spec(f"{BASE}knowledge_bases: [{{name: '{name}'}}]\n")
    assert [(base.name, base.condition, base.replicate) for base in read.knowledge_bases] == [(name, name, 0)]


def test_a_condition_that_is_called_as_anothers_draw_is_refused(faults):
    text = "replicates: 2\nknowledge_bases: [{name: 'f#0'}, {name: f, text_noise: {kind: formatting}}]\n"
    assert faults(BASE + text) == [
        "spec.yaml:5: knowledge_bases: 2 entries are named 'f#0': give each a `name` of its own"
    ]


def test_the_names_of_draws_come_from_fields(spec):
    text = "replicates: 2\nknowledge_bases: [{name: 'e #2', text_noise: {kind: formatting, rate: [0, 0.1]}}]\n"
    assert [(b.name, b.condition, b.replicate, b.replicates) for b in spec(BASE + text).knowledge_bases] == [
        ("e #2-0", "e #2-0", 0, 1),
        ("e #2-0.1#0", "e #2-0.1", 0, 2),
        ("e #2-0.1#1", "e #2-0.1", 1, 2),
    ]


def test_a_name_that_is_too_long_for_a_folder_is_refused(faults):
    (line,) = faults(f"{BASE}{KB}name: {'a' * 300}\n")
    assert line.startswith("spec.yaml:5: name: must have at most 100 characters (got 'aaa")


# --- messages -------------------------------------------------------------------------------------------------


def test_the_first_faults_are_printed_and_the_others_counted(faults):
    found = faults(BASE + KB + "".join(f"k{place}: 1\n" for place in range(1000)))
    assert len(found) == 21
    assert [line.split(": ")[0] for line in found[:20]] == [f"spec.yaml:{line}" for line in range(5, 25)]
    assert found[20] == "and 980 more faults"


@pytest.mark.parametrize(
    "text",
    [
        BASE + f"knowledge_bases: [{{ocr: {{kind: {'t' * 100_000}}}}}]\n",
        BASE + KB + f'? "{"r" * 900}"\n: 1\n',
        BASE + KB + f"seed: {'x' * 100_000}\n",
        BASE + KB + f"retries: [{', '.join(['x'] * 3000)}]\n",
        BASE.replace("{kind: bm25}", ", ".join(f"{{kind: bm25, name: r{n}}}" for n in range(1000)))
        + "knowledge_bases: [{retrievers: [x]}]\n",
    ],
    ids=["kind", "key", "value", "list", "choices"],
)
def test_a_long_value_is_cut_in_a_message(faults, text):
    assert max(map(len, faults(text))) < 1000


def test_a_message_cannot_steer_a_terminal(faults):
    found = faults(f'{BASE}{KB}"\\e]0;title\\a": 1\nname: "\\e[31m"\n')
    assert all(line.isprintable() for line in found) and "\\x1b]0;title\\x07: unknown key" in found[0]


# --- what a spec may send away --------------------------------------------------------------------------------

ASKING = f"""\
benchmark: {{kind: mini}}
{KB}evaluate: [generation]
generators:
  - kind: openai
    base_url: "http://me:word@stranger:8000/v1?x=y@z"
    model: m
    api_key_env: NAME
"""


@pytest.mark.parametrize("name", ["AWS_SECRET_ACCESS_KEY", "GITHUB_TOKEN", "HOME"])
def test_a_variable_that_is_no_api_key_is_sent_only_when_it_is_allowed(faults, spec, name):
    text = ASKING.replace("NAME", name)
    assert faults(text) == [
        f"spec.yaml:8: generators.0.api_key_env: would send the environment variable '{name}' to a server: only those "
        f"whose names end in _API_KEY are sent unasked. If it holds the key for this server, add --allow-env {name}"
    ]
    assert list(sent(spec(text, allow=[name]))) == [f"generator openai sends {name} to stranger:8000"]


def test_which_variable_goes_where_is_said(spec):
    assert list(sent(spec(ASKING.replace("NAME", "OPENAI_API_KEY")))) == [
        "generator openai sends OPENAI_API_KEY to stranger:8000"
    ]
    assert list(sent(spec(BASE + KB))) == []


def test_a_key_for_a_retriever_s_server_needs_the_same_leave(faults, spec):
    server = "{kind: qdrant, url: 'https://stranger:6333', api_key_env: NAME}"
    text = BASE.replace("{kind: bm25}", f"{{kind: hybrid, retrievers: [{{kind: bm25}}, {server}]}}") + KB
    (line,) = faults(text.replace("NAME", "GITHUB_TOKEN"))
    assert "would send the environment variable 'GITHUB_TOKEN' to a server" in line
    read = spec(text.replace("NAME", "QDRANT_API_KEY"))
    assert list(sent(read)) == ["retriever qdrant sends QDRANT_API_KEY to stranger:6333"]


SECRET = """\
from typing import Literal
from pydantic import SecretStr
from ohr.contracts import Chunker

class Sender(Chunker):
    "Sends."
    kind: Literal["sender"] = "sender"
    password: SecretStr
    def split(self, pages):
        return []
"""


def test_a_variable_in_a_secret_field_needs_the_same_leave(faults, spec, tmp_path, monkeypatch):
    monkeypatch.setenv("OHR_TEST_WORD", "sesame-sesame")
    (tmp_path / "sender.py").write_text(SECRET)
    text = BASE + KB + "plugins: [sender.py]\nchunker: {kind: sender, password: '${OHR_TEST_WORD}'}\n"
    (line,) = faults(text, trust=True)
    assert line.startswith("spec.yaml:6: chunker.password: would send the environment variable 'OHR_TEST_WORD'")
    read = spec(text, trust=True, allow=["OHR_TEST_WORD"])
    assert read.chunkers[0].stage.password.get_secret_value() == "sesame-sesame"
    assert "sesame" not in json.dumps(read.resolved, default=str)


def test_a_variable_in_a_path_stays_as_it_is_written(spec, tmp_path, monkeypatch):
    monkeypatch.setenv("OHR_TEST_DATA", str(tmp_path / "secret"))
    entry = "ocr: {kind: precomputed, root: '${OHR_TEST_DATA}/ocr'}"
    read = spec(f"{BASE}knowledge_bases: [{{{entry}}}]\n")
    (base,) = read.knowledge_bases
    assert base.ocr.root == tmp_path / "secret" / "ocr"
    assert read.resolved["knowledge_bases"][0]["ocr"]["root"] == "${OHR_TEST_DATA}/ocr"
    assert "secret" not in json.dumps(read.resolved, default=str)


# --- limits ---------------------------------------------------------------------------------------------------


def test_limits_have_defaults_and_are_part_of_no_key(spec):
    read = spec(BASE + KB + "limits: {memory_gb: 1.5}\n")
    assert (read.limits.seconds, read.limits.memory_gb) == (600, 1.5)
    assert read.resolved == spec(BASE + KB).resolved


@pytest.mark.parametrize(
    ("given", "message"),
    [
        ("{seconds: 0}", "limits.seconds: must be greater than 0 (got 0)"),
        ("{seconds: true}", "limits.seconds: must be a number (got True)"),
        ("{seconds: '60'}", "limits.seconds: must be a number (got '60')"),
        ("{seconds: .inf}", "limits.seconds: must be a finite number (got inf)"),
        ("{seconds: null}", "limits.seconds: must be a number (got None)"),
        ("{memory_gb: -1}", "limits.memory_gb: must be greater than 0 (got -1)"),
        ("{second: 3}", "limits.second: unknown key. Choose one of: seconds, memory_gb. Did you mean 'seconds'?"),
        ("60", "limits: must be a mapping (got 60)"),
    ],
)
def test_wrong_limits_are_refused(faults, given, message):
    assert faults(f"{BASE}{KB}limits: {given}\n") == [f"spec.yaml:5: {message}"]


def test_an_unknown_key_of_a_hypothesis_lists_the_keys_of_hypotheses(faults):
    text = "hypotheses: [{name: a, compare: [x, y], expect: worse, stage: retrieval, metrik: lcs}]"
    (fault,) = (line for line in faults(f"{BASE}{KB}{text}\n") if "metrik" in line)
    assert fault.endswith("Did you mean 'metric'?") and "margin, expect" in fault and "chunkers" not in fault


def test_a_spec_without_a_file_is_read_the_same_way():
    keys = {"benchmark": {"kind": "mini"}, "knowledge_bases": [{}], "retrievers": [{"kind": "bm25"}]}
    assert make_spec({**keys, "evaluate": ["retrieval"]}, "here").retrievers[0].name == "bm25"
