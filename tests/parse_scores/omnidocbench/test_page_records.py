"""Records of pages: what is read, and what is refused."""

import pytest

from ohr.parse_scores.omnidocbench import Region, read_record, score_page

BLOCK = {"category_type": "text_block", "text": "a", "order": 1, "anno_id": 1}


def page(*blocks, relation=(), **more):
    return {"layout_dets": list(blocks), "extra": {"relation": list(relation)}, **more}


def cut(source, target, kind="truncated"):
    return {"relation_type": kind, "source_anno_id": source, "target_anno_id": target}


def test_a_record_has_blocks_in_order_and_counts_unknown_categories():
    record = read_record(
        page(
            BLOCK | {"order": 2, "ignore": True, "attribute": {}, "poly": [0, 0, 1, 1]},
            BLOCK | {"category_type": "title", "order": 1, "anno_id": "x"},
            BLOCK | {"category_type": "header", "order": None},
            {"category_type": "equation_isolated", "latex": "$$a$$"},
            {"category_type": "figure", "text": None},
            {"category_type": "need_mask"},
            {"category_type": "stamp"},
            {"category_type": "stamp"},
            relation=[cut(7, 8, "parent_son"), {}],
            page_info={"image_path": "p.jpg", "page_attribute": {"language": "english"}},
        )
    )
    assert [region.category for region in record.of("text_block", "title", "header")] == [
        "header",
        "title",
        "text_block",
    ]
    assert record.of("equation_isolated") == [Region("equation_isolated", "$$a$$", None, None)]
    assert (record.unknown, record.image_path, record.attributes) == ({"stamp": 2}, "p.jpg", {"language": "english"})


def test_a_record_may_have_no_relations_and_no_page_info():
    assert read_record({"layout_dets": [BLOCK]}).regions == (Region("text_block", "a", 1, 1),)


def test_truncated_blocks_are_joined_in_their_order_at_the_place_of_the_first():
    blocks = [BLOCK, BLOCK | {"text": "c", "order": 3, "anno_id": 3}, BLOCK | {"text": "b", "order": 2, "anno_id": 2}]
    assert read_record(page(*blocks, relation=[cut(3, 1)])).of("text_block") == [
        Region("text_block", "ac", 1, 1),
        Region("text_block", "b", 2, 2),
    ]


@pytest.mark.parametrize(
    ("record", "message"),
    [
        ([], "a page is of type list"),
        ({}, "no `layout_dets`"),
        ({"layout_dets": {}}, "layout_dets is of type dict"),
        (page("a"), r"layout_dets\[0\] is of type str"),
        (page({}), r"layout_dets\[0\].category_type is missing"),
        (page(BLOCK, BLOCK | {"text": None}), r"layout_dets\[1\].text of a text_block is missing"),
        (page({"category_type": "table", "html": 3}), r"layout_dets\[0\].html of a table is of type int"),
        (page(BLOCK | {"order": "1"}), r"layout_dets\[0\].order is '1'"),
        (page(BLOCK | {"order": float("nan")}), r"layout_dets\[0\].order is nan"),
        (page(BLOCK | {"order": True}), r"layout_dets\[0\].order is True"),
        (page(BLOCK | {"anno_id": [1]}), r"layout_dets\[0\].anno_id is \[1\]"),
        ({"layout_dets": [], "extra": []} | {"extra": [1]}, "extra is of type list"),
        (page(relation=["a"]), r"extra.relation\[0\] is of type str"),
        (page(BLOCK, relation=[cut(1, None)]), r"extra.relation\[0\] has no"),
        (page(BLOCK, relation=[cut(1, 2)]), "no block has the anno_id 2"),
        (page(BLOCK, {"category_type": "table", "html": "", "anno_id": 2}, relation=[cut(1, 2)]), "a table is no text"),
        (page(BLOCK, BLOCK | {"anno_id": 2, "order": None}, relation=[cut(1, 2)]), "needs an `order`"),
        (page(page_info=[]) | {"page_info": [1]}, "page_info is of type list"),
        (page(page_info={"image_path": None}), "page_info.image_path is missing"),
    ],
)
def test_what_is_no_page_is_refused_with_its_place(record, message):
    with pytest.raises(ValueError, match=message):
        score_page(record, "", "1.5")
