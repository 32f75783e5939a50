"""Prices: what they come to, and what is wrong with them."""

from math import isnan

import pytest
from pydantic import TypeAdapter, ValidationError

from ohr.prices import Payee, Price, Prices, faults_of_prices, is_counted, names_of

GPT = Price.model_validate({"in": 2.5, "out": 10})


def test_tokens_are_priced_by_the_million_and_pages_each():
    reader = Payee("reading", "scan", "", ("scan", "vlm"))
    prices = {"vlm": Price.model_validate({"in": 1, "out": 4, "page": 0.01})}
    assert reader.money(prices, 100, 2_000_000, 500_000) == pytest.approx(100 * 0.01 + 2 + 2)
    model = Payee("answers", "a", "", ("a",))
    assert model.money({"a": GPT}, 7, 1_000_000, 100_000) == pytest.approx(2.5 + 1)


def test_the_name_in_the_spec_is_before_the_model_and_the_model_before_the_kind():
    payee = Payee("answers", "mine", "", names_of("mine", "gpt", "openai"))
    kind, model, name = (Price.model_validate({"in": n, "out": n}) for n in (1, 2, 3))
    assert payee.price({"openai": kind, "gpt": model, "mine": name}) == name
    assert payee.price({"openai": kind, "gpt": model}) == model
    assert payee.price({"openai": kind}) == kind
    assert payee.price({}) is None


@pytest.mark.parametrize(
    ("name", "model", "names"), [("a", None, ("a", "k")), ("k", "", ("k",)), ("a", "a", ("a", "k"))]
)
def test_names_are_listed_once(name, model, names):
    assert names_of(name, model, "k") == names


def test_money_is_unknown_without_a_price_or_without_counts():
    payee = Payee("systems", "rag", "", ("rag",))
    assert isnan(payee.money({}, 3, 10, 10))
    assert isnan(payee.money({"rag": GPT}, 3, 0, 0, counted=False))
    by_question = {"rag": Price(question=0.5)}
    assert payee.money(by_question, 3, 0, 0, counted=False) == 1.5
    free = {"rag": Price.model_validate({"in": 0, "out": 0})}
    assert payee.money(free, 3, 0, 0, counted=False) == 0


def test_an_engine_has_no_money_by_a_price_of_questions():
    reader = Payee("reading", "scan", "", ("scan",))
    assert reader.price({"scan": Price(question=1)}) is None


@pytest.mark.parametrize(
    ("text", "tokens_in", "tokens_out", "counted"),
    [("yes", 9, 1, True), ("", 9, 0, True), ("yes", 9, 0, False), ("yes", 0, 3, False), ("", 0, 0, False)],
)
def test_replies_without_tokens_are_not_counted(text, tokens_in, tokens_out, counted):
    assert is_counted(text, tokens_in, tokens_out) == counted


@pytest.mark.parametrize(
    "given",
    [
        [1], 5, "a", None, {1: {"page": 1}}, {"a": 3}, {"a": {}}, {"a": {"in": 1}}, {"a": {"out": 1}},
        {"a": {"in": -1, "out": 1}}, {"a": {"in": float("nan"), "out": 1}}, {"a": {"in": "1", "out": 1}},
        {"a": {"in": True, "out": 1}}, {"a": {"page": float("inf")}}, {"a": {"page": 1e300}}, {"a": {"pages": 1}},
        {"a": {"page": [1]}},
    ],
)  # fmt: skip
def test_what_is_no_price_is_refused(given):
    with pytest.raises(ValidationError):
        TypeAdapter(Prices).validate_python(given)


def test_names_that_are_nowhere_and_other_units_are_faults():
    payees = [Payee("answers", "a", "", ("a", "gpt")), Payee("reading", "scan", "", ("scan", "tesseract"))]
    prices = {"b": GPT, "a": Price(page=1), "gpt": GPT, "tesseract": Price(page=0)}
    assert faults_of_prices(prices, payees) == {
        "b": "nothing has this name. Choose one of: a, gpt, scan, tesseract.",
        "a": "is not paid by `page`, but by in, out",
    }
    assert faults_of_prices({"b": GPT}, []) == {"b": "nothing has this name. This file has nothing that is paid for."}
