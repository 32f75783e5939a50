"""The benchmark on ohr's contracts: documents, questions, golds under noise, prompts, faults."""

import json
import shutil
from dataclasses import replace
from pathlib import Path

import pytest

from ohr.benchmarks.fcmbench import FcmBench
from ohr.benchmarks.fcmbench.capture_items import PLACEHOLDER
from ohr.benchmarks.fcmbench.dossiers import text_prompt
from ohr.benchmarks.fcmbench.item_files import SAMPLE
from ohr.contracts import Passage
from ohr.errors import DataError
from ohr.registry import Registry
from ohr.steps.answers.prompt_templates import make_prompt
from ohr.testing import check_benchmark

PERSON = "applicants/01-云未然"
SMALL, FULL = "FCMBench_v1.1_testset_small.jsonl", "FCMBench_v1.1_testset_full.jsonl"


def item(name="a", images=("01-甲/收入证明/001_正常.jpg",), question=None, **changed):
    record = {"id": name, "images": list(images), "question": question or "<image>" * len(images) + "Who?"}
    record |= {"response": '{"answer": "x"}', "task": "KIE", "subtask": "inf_ext_002", "robustness": "Normal Captures"}
    return record | changed


def written(folder, *items, name=SMALL):
    folder.mkdir(parents=True, exist_ok=True)
    lines = [each if isinstance(each, str) else json.dumps(each, ensure_ascii=False) for each in items]
    (folder / name).write_text("\n".join(lines) + "\n", encoding="utf-8")
    return folder


def noise(kind, severity=0.5):
    return Registry().load("image_noise", kind)(severity=severity)


def under(benchmark, name, *noises):
    (asked,) = [q for q in benchmark.questions() if q.id == name]
    found = benchmark.under(asked, [noise(each) if isinstance(each, str) else noise(*each) for each in noises])
    return None if found is None else json.loads(found.answers[0])


@pytest.fixture(scope="module")
def sample():
    return FcmBench(root="sample")


@pytest.fixture(scope="module")
def normal():
    return FcmBench(root="sample", captures=("normal",))


@pytest.mark.parametrize("fields", [{}, {"protocol": "reference"}, {"captures": ("normal",), "languages": ("en",)}])
def test_it_keeps_the_contract(fields):
    check_benchmark(FcmBench(root="sample", **fields), images=2)


def test_a_document_is_an_applicant_and_a_page_a_picture_that_is_asked_about(sample, normal):
    assert {d.name: d.pages for d in sample.documents()} == {
        PERSON: 32, "applicants/02-石不语": 3, "forms/空模板": 4, "forms/空模板_eng": 3,
    }  # fmt: skip
    assert {d.name: (d.pages, d.language) for d in normal.documents()} == {
        PERSON: (9, "zh"), "applicants/02-石不语": (3, "zh"), "forms/空模板_eng": (3, "en"),
    }  # fmt: skip
    assert len(normal.questions()) == 32
    assert "left out 22 questions of other captures or languages" in normal.notes()


def test_a_question_has_its_pictures_in_order_and_the_pages_of_the_first_ones_owner(normal):
    asked = {q.id: q for q in normal.questions()}["con_cnk_001_01"]
    pictures = [normal._copy().pictures[document][index] for document, index in asked.places]
    assert [Path(picture).parts[0] for picture in pictures] == ["01-云未然", "01-云未然", "02-石不语", "01-云未然"]
    assert [Path(picture).parts[1] for picture in pictures] == [
        "流水明细",
        "收入证明",
        "身份证（人像面）",
        "不动产权证书",
    ]
    assert asked.document == PERSON
    assert asked.pages == tuple(sorted(index for document, index in asked.places if document == PERSON))
    assert dict(asked.groups) == {
        "task": "CC", "subtask": "con_cnk_001", "robustness": "Normal Captures", "language": "zh",
    }  # fmt: skip


def test_certificates_have_their_text_under_all_conditions_and_other_pictures_an_unknown_one(sample):
    (applicant,) = [document for document in sample.documents() if document.name == PERSON]
    held = dict(zip(sample._copy().pictures[PERSON], sample.pages(applicant), strict=True))
    assert held["01-云未然/流水明细/003_阴影.jpg"].text == held["01-云未然/流水明细/001_正常.jpg"].text != ""
    assert held["01-云未然/组合1/001_正常.jpg"].text == ""


def test_pictures_in_no_folder_are_documents_of_their_own_and_one_may_be_shown_twice(tmp_path):
    picture = "01-甲/收入证明/001_正常.jpg"
    written(tmp_path, item(images=(picture, picture, "form.png", "blank/form.png")))
    benchmark = FcmBench(root=tmp_path)
    (asked,) = benchmark.questions()
    own = ("applicants/01-甲", 0)
    assert asked.places == (own, own, ("forms/form", 0), ("forms/blank", 0))
    assert asked.pages == (0,)
    assert {d.name: d.pages for d in benchmark.documents()} == {own[0]: 1, "forms/blank": 1, "forms/form": 1}
    assert benchmark.pages(benchmark.documents()[0]) == []
    text = make_prompt(benchmark, asked, [Passage("Ann", (own,)), Passage("Ann", (own,))]).user
    assert text == "[Image 1]\nAnn\n[Image 2]\nAnn\n[Image 3]\n\n[Image 4]\n\nWho?"


# --- files ------------------------------------------------------------------------------------------------


@pytest.mark.parametrize("below", ["", "vision_language"])
def test_the_folder_of_the_repository_or_of_its_track_may_be_named(tmp_path, below):
    written(tmp_path / below, item())
    assert [q.id for q in FcmBench(root=tmp_path).questions()] == ["a"]
    assert FcmBench(root=tmp_path).origin(FcmBench(root=tmp_path).questions()[0]) == f"{tmp_path / below / SMALL}:1"


@pytest.mark.parametrize("below", ["", "images", "FCMBench_v1.1_Images", "data/pictures"])
def test_images_are_found_below_the_root(tmp_path, below):
    picture = "01-云未然/收入证明/001_正常.jpg"
    written(tmp_path, item(images=(picture, "01-云未然/收入证明/009_水印.jpg")))
    (tmp_path / below / picture).parent.mkdir(parents=True)
    shutil.copy(SAMPLE / "images" / picture, tmp_path / below / picture)
    benchmark = FcmBench(root=tmp_path)
    document = benchmark.documents()[0]
    assert benchmark.page_image(document, 0).shape == (820, 640, 3)
    assert "1 missing image: 01-云未然/收入证明/009_水印.jpg" in benchmark.notes()
    with pytest.raises(DataError, match=r"009_水印\.jpg: no such file"):
        benchmark.page_image(document, 1)
    before = benchmark.fingerprint(document, images=True)
    shutil.copy(SAMPLE / "images/01-云未然/收入证明/009_水印.jpg", tmp_path / below / picture)
    assert benchmark.fingerprint(document, images=True) != before


def test_questions_are_read_without_any_image(tmp_path):
    benchmark = FcmBench(root=written(tmp_path, item()))
    benchmark.check()
    assert "no images: answers can be scored, but pages cannot be read" in benchmark.notes()
    with pytest.raises(DataError, match=r"has no image 01-甲/收入证明/001_正常\.jpg; `ohr data get fcmbench` fetches"):
        benchmark.page_image(benchmark.documents()[0], 0)
    with pytest.raises(DataError, match="no page 1: it has 1 page, counted from 0"):
        benchmark.page_image(benchmark.documents()[0], 1)


def test_questions_of_the_full_set_have_no_answer(tmp_path):
    written(tmp_path, item("b", response=""), item("c"), name=FULL)
    benchmark = FcmBench(root=tmp_path)
    assert [q.answers for q in benchmark.questions()] == [(), ('{"answer": "x"}',)]
    assert "1 question without a published answer: not scored" in benchmark.notes()
    assert benchmark.under(benchmark.questions()[0], [noise("defocus")]) == benchmark.questions()[0]


@pytest.mark.parametrize(
    ("files", "message"),
    [
        ((), f"has no {SMALL} or {FULL}, nor has .*vision_language$"),
        (("FCMBench_v1.0_testset_small.jsonl",), "the questions of V1.0 are others"),
    ],
)
def test_a_folder_without_the_questions_is_named(tmp_path, files, message):
    for name in files:
        written(tmp_path, item(), name=name)
    with pytest.raises(DataError, match=message):
        FcmBench(root=tmp_path).check()
    with pytest.raises(DataError, match=r"nowhere: no such folder"):
        FcmBench(root=tmp_path / "nowhere").check()
    with pytest.raises(DataError, match="has no item of these captures and languages"):
        FcmBench(root=written(tmp_path, item()), captures=("cropped",)).check()


def test_the_small_set_comes_first_unless_the_other_is_named(tmp_path):
    written(tmp_path, item("f"), name=FULL)
    assert [q.id for q in FcmBench(root=tmp_path).questions()] == ["f"]
    with pytest.raises(DataError, match=f"has no {SMALL}, nor"):
        FcmBench(root=tmp_path, split="small").check()
    written(tmp_path, item("s"))
    assert [FcmBench(root=tmp_path, split=split).questions()[0].id for split in (None, "full")] == ["s", "f"]


@pytest.mark.parametrize(
    ("content", "message"),
    [("[", "not readable as JSON"), ("[]", "must be a mapping"), ('{"a": 1}', "a: must be a text")],
)
def test_texts_that_are_none_are_refused(tmp_path, content, message):
    benchmark = FcmBench(root=written(tmp_path, item()))
    (tmp_path / "texts.json").write_text(content)
    with pytest.raises(DataError, match=message):
        benchmark.pages(benchmark.documents()[0])


def test_a_file_that_changed_is_read_again(tmp_path):
    benchmark = FcmBench(root=written(tmp_path, item()))
    assert len(benchmark.questions()) == 1
    written(tmp_path, item(), item("b"))
    assert len(benchmark.questions()) == 2


# --- golds under noise ------------------------------------------------------------------------------------


def test_the_answer_to_what_is_wrong_with_a_picture_becomes_the_noise(normal):
    assert under(normal, "qua_eva_001_01", "defocus") == {"answer": ["模糊"]}
    assert under(normal, "qua_eva_001_01", ("defocus", 0)) == {"answer": ["正常"]}
    assert under(normal, "qua_eva_001_01", ("defocus", 0), "cropped") == {"answer": ["拍摄不完整"]}
    assert under(normal, "qua_eva_001_01", "defocus", "cropped") is None


def test_example_pictures_would_be_distorted_too_so_they_are_not_asked_about(normal):
    assert under(normal, "en.doc_cla_002_01", "watermark") is None
    assert under(normal, "en.doc_cla_002_01", ("watermark", 0)) == {"answer": "B"}


def test_sheets_that_join_a_picture_are_those_of_the_applicant_by_their_order(normal):
    first = [Path(picture).parent.name for picture in normal._copy().pictures[PERSON][:3]]
    assert first == ["bank_statement", "property_owner_search_report", "warranty_deed"]
    one, two = ("multi_doc", 1 / 3), ("multi_doc", 2 / 3)
    assert under(normal, "inf_ext_002_01", one) == under(normal, "inf_ext_002_01", "watermark")
    assert under(normal, "en.inf_ext_002_01", one) == under(normal, "en.inf_ext_002_01", "watermark")
    assert under(normal, "en.con_cnk_001_01", one) is None  # two bank statements
    found = under(normal, "en.doc_cla_003_01", two)
    assert found == {"present_categories": ["bank_statement"], "missing_categories": ["ssn"]}


def test_joined_sheets_are_unknown_where_they_are_no_whole_certificates(sample, tmp_path):
    assert under(sample, "inf_ext_002_02", "multi_doc") is None  # other captures of other certificates come first
    written(tmp_path, item(), item("b", ("01-甲/银行卡/001_正常.jpg",), "<image>银行卡、收入证明？"))
    pages = FcmBench(root=tmp_path)
    assert under(pages, "a", "multi_doc") == {"answer": "x"}
    types = item("a", question="<image>银行卡、收入证明？", subtask="doc_cla_001", task="DTR")
    types |= {"response": '{"answer": ["收入证明"]}'}
    written(tmp_path, types, item("b", ("01-甲/银行卡/001_正常.jpg",)))
    assert under(pages, "a", "multi_doc") == {"answer": ["收入证明", "银行卡"]}


# --- prompts ----------------------------------------------------------------------------------------------


@pytest.mark.parametrize(
    ("question", "texts", "prompt"),
    [
        *((f"{mark}\nWho?", ["Ann"], "[Image 1]\nAnn\nWho?") for mark in ("<image>", "<image_001>", "<images_001>")),
        (
            "<images_001><images_002>\nA. <images_003>\nWho is <name>?",
            ["one", "two", "three"],
            "[Image 1]\none\n[Image 2]\ntwo\nA. [Image 3]\nthree\nWho is <name>?",
        ),
        ("<image>Who?", ["Ann"], "[Image 1]\nAnn\nWho?"),  # the question has a line of its own
        ("<image><image>", ["<image>", "x\\1"], "[Image 1]\n<image>\n[Image 2]\nx\\1"),
        ("<image>\nWho?", [""], "[Image 1]\n\nWho?"),
    ],
)
def test_each_placeholder_is_followed_by_the_text_of_its_image(question, texts, prompt):
    assert text_prompt(question, texts) == prompt


@pytest.mark.parametrize("texts", [[], ["one", "two"]])
def test_there_must_be_a_text_for_each_placeholder(texts):
    with pytest.raises(ValueError, match=f"1 placeholders, but {len(texts)} texts"):
        text_prompt("<image>Who?", texts)


def test_retrieved_texts_are_put_under_the_placeholder_of_their_page(normal):
    asked = {q.id: q for q in normal.questions()}["con_chk_004_01"]
    second = asked.places[1]
    other = Passage("another sheet", ((PERSON, 0),))
    passages = [other, Passage("second sheet", (second,)), Passage("its end", (second,)), Passage("nobody's")]
    made = make_prompt(normal, asked, passages)
    head = "[Image 1]\n\n[Image 2]\nsecond sheet\nits end\n查询结果中"
    assert made.user.startswith(head)
    assert made.user.endswith('{"answer": "是"}\n\n[Other image]\nanother sheet\n\n[Other image]\nnobody\'s')
    assert made.passages == tuple(passage.text for passage in passages)
    assert make_prompt(normal, asked, []).user.startswith("[Image 1]\n\n[Image 2]\n\n查询结果中")


def test_a_model_that_sees_images_gets_the_published_question_alone(normal):
    asked = {q.id: q for q in normal.questions()}["con_chk_004_01"]
    made = make_prompt(normal, asked, [Passage("a sheet", asked.places[:1])], images=True)
    assert (made.system, made.user) == ("", asked.text)
    assert len(PLACEHOLDER.findall(made.user)) == 2


def test_another_prompt_does_not_repeat_the_texts(normal, tmp_path):
    asked = replace(normal.questions()[0])
    (tmp_path / "p.yaml").write_text("user: '{retrieved_documents}Question: {question}'")
    made = make_prompt(normal, asked, [Passage("a sheet", asked.places[:1])], prompt=tmp_path / "p.yaml")
    assert made.user.startswith("Question: [Image 1]\na sheet\n")
