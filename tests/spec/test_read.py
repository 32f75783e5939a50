import re

import pytest

from ohr.errors import SpecError
from ohr.registry import Registry
from ohr.spec.read import read_spec

from ..conftest import CHUNKER
from .conftest import BASE


def installed(line):
    """Fill in `<family>` with the names of the installed plugins, as an error lists them."""
    return re.sub(r"<(\w+)>", lambda match: ", ".join(Registry().names(match[1])), line)


# --- what a spec means ------------------------------------------------------------------------------------


def test_the_smallest_spec_gets_its_defaults(spec):
    read = spec(BASE + "knowledge_bases: [{}]\n")
    assert (read.name, read.seed, read.replicates, read.retries) == ("run", 0, 5, 1)
    assert [base.name for base in read.knowledge_bases] == ["ground_truth"]
    assert read.chunkers[0].stage.kind == "tokens"


@pytest.mark.parametrize("text", ["writer: {kind: openai}\nquestions: {total: 5}\n", "silver: {kind: tesseract}\n"])
def test_a_file_of_a_build_is_named_as_one(spec, text):
    with pytest.raises(SpecError, match=r"^\S+:1: (writer|silver): a file of `ohr data build`: .*--spec") as refused:
        spec(text)
    assert len(str(refused.value).splitlines()) == 1


def test_a_swept_field_makes_a_level_each(spec):
    read = spec(BASE + "replicates: 1\nknowledge_bases: [{text_noise: {kind: formatting, rate: [0.1, 0.3]}}]\n")
    assert [base.name for base in read.knowledge_bases] == ["formatting-0.1", "formatting-0.3"]
    assert [(base.noise, base.knob, base.knob_value) for base in read.knowledge_bases] == [
        ("formatting", "rate", 0.1),
        ("formatting", "rate", 0.3),
    ]


def test_several_swept_fields_make_their_product_in_file_order(spec):
    read = spec(
        "benchmark: {kind: mini}\nevaluate: [retrieval]\nknowledge_bases: [{}]\n"
        "retrievers: [{kind: bm25, k1: [1, 2], top_k: [3, 4]}]\n"
    )
    assert [item.name for item in read.retrievers] == ["bm25-1-3", "bm25-1-4", "bm25-2-3", "bm25-2-4"]


def test_a_list_of_noises_is_a_chain_in_order(spec):
    noises = "[{kind: rotation}, {kind: psf_blur, severity: [0.1, 0.2]}]"
    read = spec(f"{BASE}replicates: 1\nknowledge_bases: [{{image_noise: {noises}, ocr: {{kind: tesseract}}}}]\n")
    assert [[noise.kind for noise in base.image_treatments] for base in read.knowledge_bases] == [
        ["rotation", "psf_blur"]
    ] * 2
    assert [base.name for base in read.knowledge_bases] == [
        "rotation+psf_blur+tesseract-0.1",
        "rotation+psf_blur+tesseract-0.2",
    ]


def test_a_field_that_is_a_list_by_type_is_not_swept(spec):
    read = spec(
        "benchmark: {kind: mini, domains: [law, finance]}\n" + BASE.split("\n", 1)[1] + "knowledge_bases: [{}]\n"
    )
    assert read.benchmark.domains == ("law", "finance")


def test_a_swept_engine_field_names_the_levels(spec):
    read = spec(BASE + "knowledge_bases: [{ocr: {kind: tesseract, psm: [3, 6]}}]\n")
    assert [(base.name, base.knob, base.knob_value) for base in read.knowledge_bases] == [
        ("tesseract-3", "psm", 3),
        ("tesseract-6", "psm", 6),
    ]


def test_a_swept_switch_is_named_by_its_field(spec):
    read = spec(BASE.replace("{kind: bm25}", "{kind: dense, normalise: [true, false]}") + "knowledge_bases: [{}]\n")
    assert [named.name for named in read.retrievers] == ["dense-normalise=true", "dense-normalise=false"]


def test_noise_is_drawn_once_per_replicate_and_the_clean_base_once(spec):
    read = spec(BASE + "replicates: 3\nknowledge_bases: [{}, {name: noisy, text_noise: {kind: formatting}}]\n")
    assert [(base.name, base.replicate) for base in read.knowledge_bases] == [
        ("ground_truth", 0),
        ("noisy#0", 0),
        ("noisy#1", 1),
        ("noisy#2", 2),
    ]


def test_a_base_can_be_limited_to_some_retrievers(spec):
    read = spec(
        "benchmark: {kind: mini}\nevaluate: [retrieval]\nretrievers: [{kind: bm25}, {kind: bm25, name: other, k1: 2}]\n"
        "knowledge_bases: [{retrievers: [other]}]\n"
    )
    assert read.knowledge_bases[0].retrievers == ("other",)


def test_the_resolved_spec_has_the_defaults_written_out(spec):
    resolved = spec(BASE + "knowledge_bases: [{}]\n").resolved
    assert resolved["retrievers"] == [
        {
            "name": "bm25",
            "kind": "bm25",
            "top_k": 2,
            "k1": 1.5,
            "b": 0.75,
            "delta": 0.5,
            "variant": "lucene",
            "tokenizer": "words",
            "language": "auto",
        }
    ]


# --- extends ----------------------------------------------------------------------------------------------


def test_a_child_changes_keys_of_a_plugin_and_replaces_lists(spec, tmp_path):
    (tmp_path / "base.yaml").write_text(BASE + "seed: 4\nchunker: {kind: tokens, size: 64}\nknowledge_bases: [{}]\n")
    read = spec("extends: base.yaml\nchunker: {overlap: 8}\nretrievers: [{kind: bm25, name: mine}]\n")
    assert (read.seed, read.chunkers[0].stage.size, read.chunkers[0].stage.overlap) == (4, 64, 8)
    assert [item.name for item in read.retrievers] == ["mine"]


def test_another_kind_replaces_the_parents_plugin(spec, tmp_path):
    (tmp_path / "base.yaml").write_text(BASE + "chunker: {kind: tokens, size: 64}\nknowledge_bases: [{}]\n")
    assert spec("extends: base.yaml\nchunker: {kind: page}\n").chunkers[0].stage.kind == "page"


@pytest.mark.parametrize(
    ("child", "message"),
    [
        ("extends: base.yaml\n", "base.yaml:5: chunker.size: unknown key. Choose one of: kind."),
        ("extends: other.yaml\n", "spec.yaml:1: extends: a spec cannot extend itself"),
        ("name: x\nextends: zzz.yaml\n", "spec.yaml:2: extends: no such file: zzz.yaml"),
        ("extends: bas.yaml\n", "spec.yaml:1: extends: no such file: bas.yaml. Did you mean base.yaml?"),
        ("extends: [a.yaml]\n", "spec.yaml:1: extends: name one file (got ['a.yaml'])"),
    ],
    ids=["a fault in the parent", "a circle", "missing", "misspelt", "several"],
)
def test_a_wrong_parent_is_reported_with_its_line(faults, tmp_path, child, message):
    (tmp_path / "base.yaml").write_text(BASE + "knowledge_bases: [{}]\nchunker: {kind: page, size: 3}\n")
    (tmp_path / "other.yaml").write_text("extends: spec.yaml\n")
    assert faults(child) == [message]


def test_relative_paths_of_a_parent_start_at_the_parent(spec, tmp_path):
    (tmp_path / "shared").mkdir()
    entry = "knowledge_bases: [{ocr: {kind: precomputed, root: ocr}}]\n"
    (tmp_path / "shared" / "base.yaml").write_text(BASE + entry)
    read = spec("extends: shared/base.yaml\n")
    assert read.knowledge_bases[0].ocr.root.resolve() == tmp_path / "shared" / "ocr"


@pytest.mark.parametrize("batch, fault", [
    ("{poll_second: 3}", ".poll_second: unknown key. Choose one of: poll_seconds, window, largest_requests, "
     "largest_bytes. Did you mean 'poll_seconds'?"),
    ("{poll_seconds: .inf}", ".poll_seconds: must be less than or equal to 86400 (got inf)"),
    ("{window: 3}", ".window: must be text (got 3)"),
    ("sometimes", ": must be true or false (got 'sometimes')"),
])  # fmt: skip
def test_a_fault_of_batch_is_said_once(faults, batch, fault):
    generator = f'{{kind: openai, base_url: "http://localhost/v1", model: m, batch: {batch}}}'
    text = (
        f"benchmark: {{kind: mini}}\nretrievers: [{{kind: bm25}}]\nknowledge_bases: [{{}}]\ngenerators: [{generator}]\n"
    )
    assert faults(text) == [f"spec.yaml:4: generators.0.batch{fault}"]


# --- --set ------------------------------------------------------------------------------------------------


def test_overrides_change_values_deep_down(spec):
    text = BASE + "knowledge_bases: [{}]\nchunker: {kind: tokens}\n"
    read = spec(text, "retrievers.0.top_k=5", "seed=9", "chunker.size=[32, 64]")
    assert (read.retrievers[0].stage.top_k, read.seed) == (5, 9)
    assert [item.name for item in read.chunkers] == ["tokens-32", "tokens-64"]


@pytest.mark.parametrize(
    ("override", "message"),
    [
        ("seed", "--set seed: write it as key.path=value"),
        ("retrievers.3.top_k=1", "--set retrievers.3.top_k=1: there is no retrievers.3"),
        ("retrievers.bm25.top_k=1", "--set retrievers.bm25.top_k=1: there is no retrievers.bm25"),
        ("evaluate.7=x", "--set evaluate.7=x: there is no evaluate.7"),
        ("name.deep=1", "--set name.deep=1: name is not a mapping"),
        ("extends=a.yaml", "--set extends=a.yaml: a parent is named in the file, not on the command line"),
        ("seed=[", "--set seed=[: the value is not valid YAML"),
        ("seed=-1", "--set seed=-1: seed: must be greater than or equal to 0 (got -1)"),
        (
            "retrievers=[{kind: bm52}]",
            "--set retrievers=[{kind: bm52}]: retrievers.0.kind: Choose one of: <retriever>. "
            "Did you mean 'bm25'? (got 'bm52')",
        ),
        (
            "retrievers=[{kind: hybrid, retrievers: [{kind: bm25}, {kind: bm52}]}]",
            "--set retrievers=[{kind: hybrid, retrievers: [{kind: bm25}, {kind: bm52}]}]: "
            "retrievers.0.retrievers.1.kind: Choose one of: <retriever>. Did you mean 'bm25'? (got 'bm52')",
        ),
    ],
)
def test_a_wrong_override_is_reported_as_it_was_written(faults, override, message):
    assert faults("name: x\n" + BASE + "knowledge_bases: [{}]\n", override) == [installed(message)]


# --- faults -----------------------------------------------------------------------------------------------


def test_all_faults_come_at_once_in_the_order_of_the_file(faults):
    text = """\
name: one
seeed: 3
benchmark: {kind: mini}
knowledge_bases:
  - text_noise: {kind: formating}
  - text_noise: {kind: formatting, rate: [0.1, 3]}
    retrievers: [bm52]
retrievers:
  - {kind: bm25, topk: 5}
chunker: {kind: tokens, size: many}
evaluate: [retrieval, overal]
name: two
"""
    assert faults(text) == [
        "spec.yaml:2: seeed: unknown key. Choose one of: name, seed, " + faults(text)[0].partition("name, seed, ")[2],
        installed(
            "spec.yaml:5: knowledge_bases.0.text_noise.kind: Choose one of: <text_noise>. Did you mean 'formatting'? "
            "(got 'formating')"
        ),
        "spec.yaml:6: knowledge_bases.1.text_noise.rate.1: must be less than or equal to 1 (got 3)",
        "spec.yaml:7: knowledge_bases.1.retrievers: no retriever is named 'bm52'. Choose one of: .",
        "spec.yaml:9: retrievers.0.topk: unknown key. Choose one of: kind, top_k, tokenizer, language, "
        "k1, b, delta, variant. Did you mean 'top_k'?",
        "spec.yaml:10: chunker.size: must be a whole number (got 'many')",
        "spec.yaml:11: evaluate.1: Choose one of: page, retrieval, generation, overall. Did you mean 'overall'? "
        "(got 'overal')",
        "spec.yaml:12: name: this key is listed twice; the first is on line 1",
    ]


@pytest.mark.parametrize(
    ("text", "message"),
    [
        ("", "spec.yaml:1: a spec is a mapping of keys to values (got an empty file)"),
        ("- 1\n", "spec.yaml:1: a spec is a mapping of keys to values (got [1])"),
        ("a: [1\n", "spec.yaml:2: not valid YAML: expected ',' or ']', but got '<stream end>'"),
        ("a:\n\tb: 1\n", "spec.yaml:2: not valid YAML: found character '\\t' that cannot start any token"),
        ("a: \x01\n", "spec.yaml: not valid YAML: unacceptable character #x0001: special characters are not allowed"),
        (
            "name: 2024-13-45\n",
            "spec.yaml:1: not valid YAML: '2024-13-45' is not a valid timestamp (month must be in 1..12)",
        ),
        (
            "a: !!python/object:os.system {}\n",
            "spec.yaml:1: not valid YAML: could not determine a constructor for the tag "
            "'tag:yaml.org,2002:python/object:os.system'",
        ),
    ],
)  # fmt: skip
def test_a_file_that_is_no_spec_is_reported_in_one_line(faults, text, message):
    assert next(line.rstrip() for line in faults(text)) == message


def test_a_missing_file_is_reported(tmp_path):
    with pytest.raises(SpecError) as caught:
        read_spec(tmp_path / "no.yaml")
    assert str(caught.value) == f"{tmp_path}/no.yaml: no such file"


@pytest.mark.parametrize("given", ["study.yml", "study", "stdy.yaml"])
def test_a_missing_file_is_reported_with_the_file_that_was_probably_meant(tmp_path, given):
    for name in ("study.yaml", "other.yaml", "study.py"):
        (tmp_path / name).touch()
    with pytest.raises(SpecError) as caught:
        read_spec(tmp_path / given)
    assert str(caught.value) == f"{tmp_path}/{given}: no such file. Did you mean {tmp_path}/study.yaml?"


def test_a_file_that_is_not_text_is_reported(tmp_path):
    (tmp_path / "x.yaml").write_bytes(b"\xff\xfe\x00")
    with pytest.raises(SpecError, match=r"x\.yaml: cannot be read: "):
        read_spec(tmp_path / "x.yaml")


@pytest.mark.parametrize(
    ("entry", "message"),
    [
        ("{image_noise: 5}", ["image_noise: must be a list (got 5)",
         "image_noise: must be a mapping with a `kind` (got 5)"]),
        ("{text_noise: {rate: 0.1}}", ["text_noise.kind: is required. Choose one of: <text_noise>."]),
        ("{text_noise: {kind: [formatting]}}",
         ["text_noise.kind: Choose one of: <text_noise>. Did you mean 'formatting'? (got ['formatting'])"]),
        ("{text_noise: {kind: formatting, rate: []}}",
         ["text_noise.rate: must have at least one value to sweep (got [])"]),
        ("{text_noise: {kind: formatting, rate: high}}", ["text_noise.rate: must be a number (got 'high')"]),
        ("{text_noise: {kind: formatting, rate: true}}", ["text_noise.rate: must not be true or false (got True)"]),
        ("{text_noise: {kind: formatting, rate: .nan}}", ["text_noise.rate: must be a finite number (got nan)"]),
        ("{text_noise: {kind: formatting, rate: [0.1, high]}}", ["text_noise.rate.1: must be a number (got 'high')"]),
        ("{text_noise: {kind: formatting, rules: bold}}", ["text_noise.rules: must be a mapping (got 'bold')"]),
        ("{text_noise: {kind: formatting, rules: {bold: 2}}}",
         ["text_noise.rules.bold: must be less than or equal to 1 (got 2)"]),
        ("{text_noise: {kind: formatting, rules: {titel: 1}}}",
         ["text_noise.rules.titel: unknown key. Choose one of: bold, italic, underline, title, paragraph, "
          "formula_conversion, extraneous_elements, equivalent_symbols, table_lines, cell_content. "
          "Did you mean 'title'?"]),
        ("{ocr: {kind: precomputed}}", ["ocr.root: is required"]),
        ("{ocr: tesseract}", ["ocr: must be a mapping with a `kind` (got 'tesseract')"]),
        ("{name: [a]}", ["name: must be text (got ['a'])"]),
        ("{nam: a}",
         ["nam: unknown key. Choose one of: name, image_noise, ocr, text_noise, treatments, retrievers, repeats. "
          "Did you mean 'name'?"]),
        ("{retrievers: [bm52]}",
         ["retrievers: no retriever is named 'bm52'. Choose one of: bm25. Did you mean 'bm25'?"]),
    ],
)  # fmt: skip
def test_a_wrong_knowledge_base_is_reported_with_its_key(faults, entry, message):
    assert faults(f"{BASE}knowledge_bases:\n  - {entry}\n") == [
        f"spec.yaml:5: knowledge_bases.0.{installed(line)}" for line in message
    ]


def test_a_mapping_is_swept_over_a_list_of_mappings(spec):
    read = spec(
        BASE + "replicates: 1\nknowledge_bases: [{text_noise: {kind: formatting, rules: [{bold: 1}, {title: 0.5}]}}]\n"
    )
    assert [base.name for base in read.knowledge_bases] == ["formatting-bold=1", "formatting-title=0.5"]
    assert [base.text_treatments[0].rules.bold for base in read.knowledge_bases] == [1, 0]


def test_image_noise_needs_an_engine_that_reads_images(faults):
    others = {"ground_truth", "precomputed", "text_layer"}
    engines = ", ".join(kind for kind in Registry().names("ocr") if kind not in others)
    assert faults(BASE + "knowledge_bases: [{image_noise: {kind: rotation}}]\n") == [
        f"spec.yaml:4: knowledge_bases.0.image_noise: image noise needs an `ocr` that reads images, such as {engines}, "
        "or retrievers and agents that all read images"
    ]


MINI = "benchmark: {kind: mini}\nknowledge_bases: [{}]\n"
NEED = "need at least one entry under"
NAME = "give each a `name` of its own"


@pytest.mark.parametrize(
    ("text", "messages"),
    [
        (f"{MINI}evaluate: [retrieval]\n", [f"3: evaluate: retrieval and overall {NEED} `retrievers`"]),
        (f"{MINI}evaluate: [generation]\n", [f"3: evaluate: generation and overall {NEED} `generators`"]),
        (
            f"{MINI}evaluate: [overall]\n",
            [
                f"3: evaluate: generation and overall {NEED} `generators`",
                f"3: evaluate: retrieval and overall {NEED} `retrievers`",
            ],
        ),
        (
            BASE.replace("[{kind: bm25}]", "[5, {kind: bm52}]") + "knowledge_bases: [{}]\n",
            [
                "2: retrievers.0: must be a mapping with a `kind` (got 5)",
                "2: retrievers.1.kind: Choose one of: <retriever>. Did you mean 'bm25'? (got 'bm52')",
            ],
        ),
        (
            BASE + "knowledge_bases: [{}]\nchunker: {kind: tokens, size: 5, overlap: 6}\n",
            ["5: chunker: overlap must be smaller than size (5)"],
        ),
        (
            BASE.replace("{kind: bm25}", "{kind: bm25}, {kind: bm25}") + "knowledge_bases: [{}, {}]\n",
            [
                f"2: retrievers: 2 entries are named 'bm25': {NAME}",
                f"4: knowledge_bases: 2 entries are named 'ground_truth': {NAME}",
            ],
        ),
        (
            f"{BASE}replicates: 1\nknowledge_bases:\n  - {{name: f, text_noise: {{kind: formatting, rate: 0.3}}}}\n"
            "  - {name: f, text_noise: {kind: formatting, rate: [0.3], rules: {paragraph: 1}}}\n",
            ["5: knowledge_bases: 2 entries are 'f' with rate 0.3: give each noise a `name` of its own"],
        ),
    ],
    ids=["no retriever", "no generator", "neither", "another shape", "several keys", "equal names", "equal points"],
)
def test_parts_that_do_not_fit_are_reported_with_their_line(faults, text, messages):
    assert faults(text) == [installed(f"spec.yaml:{message}") for message in messages]


@pytest.mark.parametrize("name", ["../escape", "a/b", "-x", "", ".hidden"])
def test_a_name_that_is_no_folder_is_refused(faults, name):
    assert faults(f"name: '{name}'\n{BASE}knowledge_bases: [{{}}]\n") == [
        rf"spec.yaml:1: name: must match pattern '^[A-Za-z0-9][\w.-]*$' (got '{name}')"
    ]


# --- paths and the environment ----------------------------------------------------------------------------


@pytest.mark.parametrize("key", ["kind: precomputed, root", "kind: tesseract, tessdata"])
def test_relative_paths_start_at_the_spec(spec, tmp_path, monkeypatch, key):
    monkeypatch.chdir("/")
    (tmp_path / "x.yaml").write_text(f"{BASE}knowledge_bases: [{{ocr: {{{key}: packs}}}}]\n")
    engine = read_spec(tmp_path / "x.yaml").knowledge_bases[0].ocr
    assert tmp_path / "packs" in (getattr(engine, "root", None), getattr(engine, "tessdata", None))


def test_the_environment_fills_paths(spec, tmp_path, monkeypatch):
    monkeypatch.setenv("OHR_TEST_DATA", str(tmp_path / "data"))
    read = spec(BASE + "knowledge_bases: [{ocr: {kind: precomputed, root: '${OHR_TEST_DATA}/ocr'}}]\n")
    assert read.knowledge_bases[0].ocr.root == tmp_path / "data" / "ocr"


def test_the_environment_fills_nothing_else(faults, monkeypatch):
    monkeypatch.setenv("OHR_TEST_MODEL", "secret")
    text = "benchmark: {kind: mini}\nknowledge_bases: [{}]\nevaluate: [generation]\ngenerators:\n"
    assert faults(text + "  - {kind: openai, base_url: 'http://x', model: '${OHR_TEST_MODEL}'}\n") == [
        "spec.yaml:5: generators.0.model: `${...}` is allowed only in path and secret fields"
    ]


def test_an_unset_variable_is_reported(faults, monkeypatch):
    monkeypatch.delenv("OHR_TEST_UNSET", raising=False)
    assert faults(BASE + "knowledge_bases: [{ocr: {kind: precomputed, root: '${OHR_TEST_UNSET}/x'}}]\n") == [
        "spec.yaml:4: knowledge_bases.0.ocr.root: environment variable OHR_TEST_UNSET is not set"
    ]


# --- plugin files -----------------------------------------------------------------------------------------


def test_a_plugin_file_runs_only_when_it_is_trusted(faults, tmp_path):
    (tmp_path / "mine.py").write_text("raise SystemExit('it ran')")
    assert faults(BASE + "knowledge_bases: [{}]\nplugins: [mine.py]\n") == [
        "spec.yaml:5: plugins: this spec runs code of its own; allow it with --trust-plugins"
    ]


def test_a_trusted_plugin_file_is_used_and_hashed(spec, tmp_path):
    (tmp_path / "mine.py").write_text(CHUNKER.format(name="Whole", kind="whole"))
    read = spec(BASE + "knowledge_bases: [{}]\nplugins: [mine.py]\nchunker: {kind: whole}\n", trust=True)
    assert type(read.chunkers[0].stage).__name__ == "Whole"
    assert [name for name, _ in read.plugin_digests] == ["mine.py"]


def test_a_missing_plugin_file_is_reported(faults, tmp_path):
    assert faults(BASE + "knowledge_bases: [{}]\nplugins: [mine.py]\n", trust=True) == [
        f"spec.yaml:5: plugins.0: no such file: {tmp_path}/mine.py"
    ]


@pytest.mark.parametrize("text", ["? [a, b]\n: 1\n", "a: &a [*a]\n"], ids=["a list as key", "an anchor of itself"])
def test_odd_yaml_is_reported_without_a_traceback(faults, text):
    assert faults(text)


@pytest.mark.parametrize(
    ("noise", "levels"),
    [
        ("rate: 0.2, where: [evidence, distractors]", [("evidence", 0.2), ("distractors", 0.2)]),
        (
            "rate: [0.1, 0.3], where: [evidence, distractors]",
            [("evidence", 0.1), ("distractors", 0.1), ("evidence", 0.3), ("distractors", 0.3)],
        ),
    ],
)
def test_swept_words_are_curves_and_no_levels_of_one(spec, noise, levels):
    read = spec(f"{BASE}replicates: 1\nknowledge_bases: [{{text_noise: {{kind: formatting, {noise}}}}}]\n")
    assert [(base.noise, base.knob, base.knob_value) for base in read.knowledge_bases] == [
        (f"formatting where={where}", "rate", rate) for where, rate in levels
    ]


def test_swept_words_of_an_engine_are_conditions_of_their_own(spec, tmp_path):
    for folder in "ab":
        (tmp_path / folder).mkdir()
    read = spec(BASE + "knowledge_bases: [{ocr: {kind: precomputed, root: [a, b]}}]\n")
    assert [(base.name, base.noise, base.knob) for base in read.knowledge_bases] == [
        ("precomputed-a", "precomputed root=a", None),
        ("precomputed-b", "precomputed root=b", None),
    ]


def test_two_swept_fields_are_two_curves(tmp_path):
    spec = tmp_path / "spec.yaml"
    spec.write_text(
        "benchmark: {kind: mini}\nreplicates: 1\nretrievers: [{kind: bm25}]\nevaluate: [retrieval]\nknowledge_bases:\n"
        "  - text_noise: {kind: formatting, markdown: [0, 1], rate: [0.1, 0.3]}\n"
    )
    bases = read_spec(spec).knowledge_bases
    assert {(base.noise, base.knob, base.knob_value) for base in bases} == {
        (f"formatting markdown={markdown}", "rate", rate) for markdown in (0, 1) for rate in (0.1, 0.3)
    }
