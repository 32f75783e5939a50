"""A model may correct a page, and nothing else."""

import json

import pytest
from pydantic import ValidationError

from ohr.contracts import Completion, Page
from ohr.errors import SpecError
from ohr.registry import Registry
from ohr.repairs.llm_correction import LlmCorrection, read_correction_prompt

READ = (
    "The lcase of the ferry berth bcgan in 1964 and ends aftcr ninety years.\n"
    "Rent of 1250 francs is due in May of each year, at the harbour office.\n"
    "The keeper of the berth must not let it to others without leave."
)
RIGHT = READ.replace("lcase", "lease").replace("bcgan", "began").replace("aftcr", "after")
GERMAN = (
    "Die Pacht des Anlegers begann im Jahr 1964 und endet nach neunzig Jahren. Die Miete von 1250 Franken ist im Mai "
    "jedes Jahres im Hafenamt zu zahlen, und der Halter darf den Anleger nicht ohne Erlaubnis an andere vermieten."
)
CHINESE = "渡口泊位的租约始于一九六四年，九十年后终止。租金为一千二百五十法郎，每年五月在港务办公室支付。" * 4
PAGE = Page("law/lease", 3, READ)
INSTRUCTIONS = read_correction_prompt("correct").user.split("\n\n")


def correction(**keys):
    return LlmCorrection(generator={"kind": "extractive"}, **keys)


@pytest.mark.parametrize(
    ("reply", "outcome"),
    [
        (RIGHT, "corrected"),
        (READ, "unchanged"),
        (f"  {READ}\n\n", "unchanged"),
        (f"```\n{RIGHT}\n```", "corrected"),
        (f"```text\n{RIGHT}\n```\n", "corrected"),
        (f"Here is the corrected text:\n\n{RIGHT}", "corrected"),
        (f"Sure! Here's the corrected page:\n```\n{RIGHT}\n```", "corrected"),
        (f"以下是修正后的文本：\n{RIGHT}", "corrected"),
        (f"<think>The word lcase is lease.</think>\n{RIGHT}", "corrected"),
        (f"{INSTRUCTIONS[0]}\n\n{RIGHT}", "corrected"),  # as small models do
        (f"{INSTRUCTIONS[0]}\n\n{INSTRUCTIONS[1]}\n\nHere is the corrected page:\n{RIGHT}", "corrected"),
        (INSTRUCTIONS[0], "empty"),
        ("", "empty"),
        (" \n\t", "empty"),
        ("<think>The word lcase", "empty"),
        ("```\n```", "empty"),
        ("I'm sorry, but I can't help with that.", "refused"),
        ("I’m sorry, but the page holds personal data.", "refused"),
        ("As an AI language model, I cannot change legal documents.", "refused"),
        ("Please provide the text of the page.", "refused"),
        ("抱歉，我无法处理该文本。", "refused"),
        ("A lease of a ferry berth for ninety years.", "shortened"),
        (RIGHT[: len(RIGHT) // 2], "shortened"),
        (f"{RIGHT}\n{RIGHT}", "lengthened"),
        (f"{RIGHT}\n\nNote: " + "I changed a word of the page that was wrong. " * 4, "lengthened"),
        (GERMAN, "another_language"),
        (CHINESE, "another_language"),
        ("On the coast of the bay there is a mill that grinds the corn of all the farms. " * 3, "rewritten"),
    ],
)
def test_a_reply_is_taken_only_where_it_corrects(reply, outcome):
    page = correction().corrected(PAGE, Completion(reply, tokens_in=70, tokens_out=9))
    assert page.record == {"outcome": outcome, "tokens_in": 70, "tokens_out": 9}
    assert page.text == (RIGHT if outcome == "corrected" else READ)


@pytest.mark.parametrize(
    ("reply", "outcome"),
    [
        (None, "failed"),
        (Completion("", finish="error", error="the server is gone"), "failed"),
        (Completion(RIGHT, finish="length"), "shortened"),  # whatever it has, its end is missing
        (Completion(RIGHT, truncated=True), "shortened"),
    ],
)
def test_a_reply_that_is_not_whole_changes_nothing(reply, outcome):
    page = correction().corrected(PAGE, reply)
    assert (page.text, page.record["outcome"]) == (READ, outcome)


def test_what_a_page_itself_has_is_not_cut():
    text = "Here is the corrected rule:\nrent is due in May of each year, and not in Jume.\n```\ncode\n```"
    page = correction().corrected(Page("a", 0, text), Completion(text.replace("Jume", "June")))
    assert page.text == text.replace("Jume", "June")
    refusal = "I cannot come to the harbour on Mnday, wrote the keeper of the berth."
    page = correction().corrected(Page("a", 0, refusal), Completion(refusal.replace("Mnday", "Monday")))
    assert page.record["outcome"] == "corrected"


def test_an_instruction_before_the_text_is_cut_from_the_reply(tmp_path):
    file = tmp_path / "mine.yaml"
    file.write_text("system: Be careful.\nuser: 'Repair this: {text}'\n")
    page = correction(prompt=file).corrected(PAGE, Completion(f"Be careful.\nRepair this: {RIGHT}"))
    assert (page.text, page.record["outcome"]) == (RIGHT, "corrected")


def test_instructions_that_the_page_has_stay():
    text = f"{INSTRUCTIONS[0]}\nThis is what the keeper of the berth has to do with each pge."
    page = correction().corrected(Page("a", 0, text), Completion(text.replace("pge", "page")))
    assert page.text == text.replace("pge", "page")


def test_a_page_of_few_letters_may_change():
    assert correction().corrected(Page("a", 0, "Rcnt l964"), Completion("Rent 1964")).text == "Rent 1964"


def test_the_prompt_has_the_page_once_and_its_braces_as_they_are():
    asked = correction().prompt_for(Page("law/lease", 3, "{text} of {page}"))
    assert asked.user.endswith("nothing else.\n\n{text} of {page}")
    assert (asked.id, asked.passages) == ("law/lease:3", ("{text} of {page}",))
    assert "OCR" in asked.system


def test_a_long_page_is_not_asked_about():
    short = correction(most_words=10)
    assert short.prompt_for(PAGE) is None
    assert short.corrected(PAGE, None).record == {"outcome": "too_long"}


def test_a_custom_prompt_is_part_of_the_identity(tmp_path):
    file = tmp_path / "mine.yaml"
    file.write_text("user: 'Repair this: {text}'\n")
    mine = correction(prompt=file)
    assert mine.prompt_for(PAGE).user == f"Repair this: {READ}"
    before = mine.identity()
    file.write_text("user: 'Mend this: {text}'\n")
    assert mine.identity() != before
    file.write_text("user: no place for the page\n")
    with pytest.raises(SpecError, match=r"user: must have the placeholder \{text\}"):
        mine.check()


def test_a_generator_of_images_is_refused():
    with pytest.raises(ValidationError, match="a correction reads text, and openai_vision reads page images"):
        LlmCorrection(generator={"kind": "openai_vision", "base_url": "http://localhost:1/v1", "model": "any"})


def test_replies_from_a_file_correct_pages_by_their_numbers(tmp_path):
    replies = tmp_path / "replies.jsonl"
    replies.write_text(json.dumps({"id": "law/lease:3", "reply": RIGHT}))
    repair = LlmCorrection(generator={"kind": "canned", "replies": replies})
    generator = Registry().load("generator", "canned")(replies=replies)
    (reply,) = generator.answer([repair.prompt_for(PAGE)])
    assert repair.corrected(PAGE, reply).text == RIGHT
