"""Names of capture conditions, and golds after image noise."""

import json
from dataclasses import replace

import pytest

from ohr.benchmarks.fcmbench.capture_items import (
    AS_NORMAL,
    CAPTURES,
    LABELS,
    SUBTASKS,
    Item,
    label_effect,
    robustness_label,
)
from ohr.registry import Registry


def item(subtask, gold, label="Normal Captures", images=("01-甲/收入证明/001_正常.jpg",), question=""):
    return Item("x", images, "<image>" * len(images) + question, json.dumps(gold), SUBTASKS[subtask], subtask, label)


def effect(*arguments, **named):
    found = label_effect(*arguments, **named)
    return None if found is None else json.loads(found)


CONDITIONS = [  # noise, words of the image's name, published label, the same in the answers to "what is wrong?"
    ("off_axis", "002_斜拍", "Off-axis Viewpoints", "Oblique Angle"),
    ("uneven_illumination", "003_阴影", "Uneven Illumination", "Shadow"),
    ("specular", "004_反光", "Specular Reflections", "Reflection/Glare"),
    ("defocus", "005_模糊", "Out-of-focus", "Blurry"),
    ("small_roi", "006_占比小", "Small ROIs", "Small Proportion"),
    ("secondary_capture", "007_拍电脑屏", "Secondary Captures", "Screen Capture (Moire)"),
    ("cluttered_background", "008_背景干扰", "Cluttered Background", "Background Clutter"),
    ("watermark", "009_水印", "Overlaid Watermarks", "Watermark"),
    ("cropped", "010_拍摄不完整", "Cropped Captures", "Incomplete Capture"),
]


@pytest.mark.parametrize(
    ("image", "label"),
    [
        *((f"26-甲/收入证明/{words}.jpg", label) for _, words, label, _ in CONDITIONS),
        ("26-甲/收入证明/001_正常.jpeg", "Normal Captures"),
        ("26-甲/收入证明/002_斜拍.JPG", "Off-axis Viewpoints"),
        ("26-甲/组合2/002_模糊.jpg", "Multi-doc Images"),
        ("26-甲/组合2/003_旋转.jpg", "Multi-doc Images"),
        ("26-甲/收入证明/003_模糊.jpg", "Out-of-focus"),
        ("26-甲/收入证明/003_旋转.jpg", None),
        ("空模板/收入证明.png", None),
    ],
)
def test_the_label_of_an_image_comes_from_the_word_and_never_from_the_number(image, label):
    assert robustness_label(image) == label


def test_each_condition_is_a_noise_of_ohr():
    assert CAPTURES.keys() <= set(Registry().names("image_noise"))
    assert len(CAPTURES) == 10
    assert len(set(LABELS)) == 11
    answers = [each for each in (AS_NORMAL, *CAPTURES.values()) if each.word]
    assert len({each.word for each in answers}) == len({each.option for each in answers}) == 10


@pytest.mark.parametrize(("kind", "words", "label", "english"), CONDITIONS)
def test_image_quality_is_that_of_the_noise(kind, words, label, english):
    assert effect(item("qua_eva_001", {"answer": ["正常"]}), [kind]) == {"answer": [words.partition("_")[2]]}
    assert effect(item("en.qua_eva_001", {"answer": ["Normal"]}), [kind]) == {"answer": [english]}


def test_image_quality_has_no_sure_answer_under_several_or_unknown_faults():
    normal = item("qua_eva_001", {"answer": ["正常"]})
    blurred = item("qua_eva_001", {"answer": ["模糊"]}, "Out-of-focus")
    assert label_effect(normal, ["defocus", "watermark"]) is None
    assert label_effect(normal, ["multi_doc"], joined=[]) is None
    assert label_effect(normal, ["salt_and_pepper"]) is None
    assert label_effect(blurred, ["watermark"]) is None
    assert effect(blurred, ["defocus"]) == {"answer": ["模糊"]}
    assert label_effect(normal, []) == normal.gold


@pytest.mark.parametrize("kind", sorted(CAPTURES.keys() - {"cropped", "multi_doc"}))
def test_other_golds_remain_under_noise_that_keeps_the_document_whole(kind):
    asked = [item(subtask, {"answer": ["甲"]}) for subtask in SUBTASKS]
    assert [one for one in asked if one.task != "IQE" and label_effect(one, [kind]) != one.gold] == []


def test_a_cropped_document_is_no_document_type():
    assert effect(item("doc_cla_001", {"answer": ["收入证明"]}), ["cropped"]) == {"answer": [""]}
    assert effect(item("en.doc_cla_002", {"answer": "B"}), ["cropped"]) == {"answer": ""}
    for present in (["甲", "乙"], "甲,"[:1]):
        gold = {"present_categories": present, "missing_categories": ["丙"]}
        found = effect(item("doc_cla_003", gold), ["cropped", "watermark"])
        assert found == {"present_categories": "", "missing_categories": [*present, "丙"]}


def test_nobody_knows_which_of_several_documents_was_cropped():
    asked = item("doc_cla_001", {"answer": ["甲", "乙"]}, "Multi-doc Images")
    assert label_effect(asked, ["cropped"]) is None
    assert label_effect(replace(asked, robustness="Normal Captures"), ["cropped", "multi_doc"], joined=["丙"]) is None


def test_joined_documents_are_added_to_the_types():
    one = item("doc_cla_001", {"answer": ["收入证明"]}, question="收入证明、银行卡？")
    added = ["银行卡", "收入证明", "离婚证"]  # the last one is no option
    assert effect(one, ["multi_doc"], joined=added) == {"answer": ["收入证明", "银行卡"]}
    three = item("doc_cla_003", {"present_categories": "", "missing_categories": ["银行卡", "离婚证"]})
    found = effect(three, ["multi_doc"], joined=["银行卡", "户口本"])
    assert found == {"present_categories": ["银行卡"], "missing_categories": ["离婚证"]}
    assert label_effect(item("doc_cla_002", {"answer": "B"}), ["multi_doc"], joined=["银行卡"]) is None
    assert label_effect(one, ["multi_doc"], joined=[]) == one.gold
    bare = item("doc_cla_001", "收入证明", question="银行卡？")
    assert effect(bare, ["multi_doc"], joined=["银行卡"]) == {"answer": ["收入证明", "银行卡"]}


def test_other_questions_need_the_right_sheet():
    fields = item("inf_ext_002", {"answer": {"a": "1"}})
    assert label_effect(fields, ["cropped"]) == fields.gold
    assert label_effect(replace(fields, gold=None), ["defocus"]) is None
    assert label_effect(fields, ["multi_doc"], joined=["银行卡"]) == fields.gold
    assert label_effect(fields, ["multi_doc"], joined=["收入证明"]) is None
    assert label_effect(fields, ["multi_doc"]) is None
    for name in ("inf_ext_001", "en.inf_ext_003"):
        assert label_effect(item(name, {"answer": "A"}), ["multi_doc"], joined=["银行卡"]) is None
