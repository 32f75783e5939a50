"""Prices in a spec: each fault at its line, and in no key."""

import pytest

from ohr.dataset.inputs import read_inputs
from ohr.graph.cache_keys import Keys

SPEC = """\
benchmark: {kind: mini, domains: [law], languages: [en], max_pages: 1}
knowledge_bases:
  - name: ground_truth
  - name: scan
    ocr: {kind: tesseract}
retrievers: [{kind: bm25}]
generators:
  - {kind: openai, name: small, base_url: 'http://127.0.0.1:9', model: gpt}
metrics:
  - {kind: judge, name: right, generator: {kind: openai, base_url: 'http://127.0.0.1:9', model: other}}
"""


@pytest.mark.parametrize("name", ["small", "gpt", "openai", "right", "other"])
def test_models_are_priced_by_name_model_or_kind(spec, name):
    assert spec(SPEC, f"prices={{{name}: {{in: 1, out: 2}}}}").prices[name].tokens_out == 2


@pytest.mark.parametrize("name", ["scan", "tesseract"])
def test_engines_are_priced_by_the_name_of_their_knowledge_base_or_by_kind(spec, name):
    assert spec(SPEC, f"prices={{{name}: {{page: 0.001}}}}").prices[name].page == 0.001


@pytest.mark.parametrize(
    ("prices", "line"),
    [
        ("[1]", "11: prices: must be a mapping of names to prices, such as {gpt: {in: 2.5, out: 10}} (got [1])"),
        ("{gpt: {in: -1, out: 2}}", "11: prices.gpt.in: must be greater than or equal to 0 (got -1)"),
        ("{gpt: {in: .nan, out: 2}}", "11: prices.gpt.in: must be a finite number (got nan)"),
        ("{gpt: {in: cheap, out: 2}}", "11: prices.gpt.in: must be a number (got 'cheap')"),
        ("{gpt: {in: 1}}", "11: prices.gpt: needs both `in` and `out`; write 0 for what is free"),
        ("{ground_truth: {page: 1}}", "11: prices.ground_truth: nothing has this name. Choose one of: gpt, openai, "),
        (
            "{gtp: {in: 1, out: 1}}",
            "11: prices.gtp: nothing has this name. Choose one of: gpt, openai, other, right, "
            "scan, small, tesseract. Did you mean 'gpt'?",
        ),
        ("{tesseract: {in: 1, out: 2}}", "11: prices.tesseract: is not paid by `in`, but by page"),
        ("{gpt: {page: 1}}", "11: prices.gpt: is not paid by `page`, but by in, out"),
    ],
)
def test_a_wrong_price_is_a_fault_at_its_line(faults, prices, line):
    (fault,) = faults(f"{SPEC}prices: {prices}\n")
    assert fault.startswith(f"spec.yaml:{line}")


def test_engines_that_count_tokens_are_paid_by_them(spec):
    model = "{kind: vlm, base_url: 'http://127.0.0.1:9', model: seeing}"
    for ocr in (model, f"{{kind: first_of, parts: [{{kind: tesseract}}, {model}]}}"):
        text = SPEC.replace("{kind: tesseract}", ocr)
        assert spec(text, "prices={scan: {in: 1, out: 2}}").prices["scan"].tokens_in == 1


def test_a_wrong_price_is_reported_with_other_faults(faults):
    wrong = f"{SPEC}prices: {{gtp: {{in: 1, out: 1}}}}\n"
    first, second = faults(wrong.replace("kind: bm25", "kind: bm25, top_k: -1"))
    assert "top_k" in first
    assert "Did you mean 'gpt'" in second
    (alone,) = faults(wrong.replace("model: gpt", "modell: gpt"))[-1:]  # which may be what has the name
    assert "nothing has this name" not in alone


def test_a_currency_is_a_short_text_that_can_be_shown(faults, spec):
    assert spec(SPEC, "currency=EUR").currency == "EUR"
    assert "currency: must not hold control characters" in faults(f'{SPEC}currency: "a\\tb"\n')[0]
    assert "currency: must have at most 20 characters" in faults(f"{SPEC}currency: {'x' * 21}\n")[0].replace(
        "String should", "must"
    )


def test_prices_are_in_no_key(spec):
    plain, priced = spec(SPEC), spec(SPEC, "prices={gpt: {in: 1, out: 2}}", "currency=EUR")
    assert priced.resolved == plain.resolved
    assert Keys(priced, read_inputs(priced)).run == Keys(plain, read_inputs(plain)).run
