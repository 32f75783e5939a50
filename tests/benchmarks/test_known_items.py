"""Queries that are written from the ground truth."""

from ohr.benchmarks.known_items import KnownItem, known_items

TABLE = "<table><tr><td>Northern berth</td><td>freight dues</td><td>1,204.5</td></tr></table>"
ROW = "| Northern berth | freight dues | 1,204.5 |"
SENTENCE = "Lanterns glow above the northern berth of the harbor at dusk."


def test_rows_of_any_notation_and_sentences_are_asked_for():
    pages = {
        "a": f"{SENTENCE}\n\n{TABLE}",
        "b": f"{SENTENCE}\n\n{ROW}\n| --- | --- | --- |",
    }
    assert list(known_items(pages)) == [
        item
        for page in ("a", "b")
        for item in (
            KnownItem(page, "text", 0, "glow above berth dusk", SENTENCE, SENTENCE),
            KnownItem(page, "table", 0, "berth freight dues 12045", "Northern berth freight dues 1,204.5", ROW),
        )
    ]


def test_chinese_is_counted_by_its_words():
    sentence = "港务局批准了渡轮公司延长夜间航线的申请。"
    (item,) = known_items({"a": sentence, "b": "渡轮 航线 夜间 港务局 申请"})
    assert (item.page, len(item.query.split())) == ("a", 4)


def test_words_of_one_page_alone_are_no_query():
    assert list(known_items({"a": SENTENCE, "b": "Other words."})) == []
