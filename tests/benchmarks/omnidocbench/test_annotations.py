"""Annotated pages, their images and results: which layouts are read, and what is refused."""

import json

import pytest
from PIL import Image

from ohr.benchmarks.omnidocbench import OmniDocBench
from ohr.benchmarks.omnidocbench.annotations import image_files
from ohr.errors import DataError

TEXT = {"category_type": "text_block", "order": 1, "anno_id": 1, "text": "Dues rose."}
INFO = {"image_path": "a.jpg", "page_attribute": {"language": "Traditional-Chinese", "data_source": "news/paper"}}
PAGE = {"layout_dets": [TEXT], "page_info": INFO, "extra": {"relation": []}}


def page(image="a.jpg", blocks=(TEXT,), **attributes):
    return {"layout_dets": list(blocks), "page_info": {"image_path": image, "page_attribute": attributes}, "extra": {}}


def copy(folder, *pages, name="set.json"):
    path = folder / name
    path.parent.mkdir(parents=True, exist_ok=True)
    path.write_text(json.dumps(pages if name == "set.json" else pages[0]), encoding="utf-8")
    return folder


def drawn(*paths):
    for path in paths:
        path.parent.mkdir(parents=True, exist_ok=True)
        Image.new("RGB", (8, 6)).save(path)


def test_a_page_is_a_document_of_its_source_and_language(tmp_path):
    (document,) = OmniDocBench(root=copy(tmp_path, PAGE)).documents()
    assert (document.name, document.domain, document.language) == ("news_paper/a", "news_paper", "zh")


def test_a_domain_is_the_first_trait_that_all_pages_have(tmp_path):
    pages = page("a.jpg", data_source="book", language="english"), page("b.jpg", language="thai")
    documents = OmniDocBench(root=copy(tmp_path, *pages)).documents()
    assert [document.name for document in documents] == ["english/a", "thai/b"]


def test_a_folder_of_pages_has_tracks_of_images(tmp_path):
    root = copy(tmp_path, page("01_news/one/a.png"), name="gt/01_news/one/a.json")
    clean, real = tmp_path / "images/clean/01_news/one/a.png", tmp_path / "images/real/01_news/one/a__real_phone.jpg"
    drawn(clean, real)
    for track in ("clean", "real"):
        benchmark = OmniDocBench(root=root, images=tmp_path / "images" / track)
        (document,) = benchmark.documents()
        assert document.name == "01_news/one__a"
        assert benchmark.page_image(document, 0).shape == (6, 8, 3)
    with pytest.raises(DataError, match=r"several images are called 01_news/one/a.png .*set `images` to one track"):
        OmniDocBench(root=root).page_image(document, 0)


def test_no_page_is_read_from_the_image_of_another(tmp_path):
    root = copy(tmp_path / "ben", page("en/p0.png"), page("zh/p0.png"), page("zh/p1.png"))
    drawn(*(root / "x" / name for name in ("en/p0.png", "zh/p0.png", "elsewhere/p1.png")))
    benchmark = OmniDocBench(root=root)
    english, chinese, alone = benchmark.documents()
    for document in (english, chinese, alone):  # of one name only one page has an image, in whichever folder
        assert benchmark.page_image(document, 0).shape == (6, 8, 3)
    (root / "x/zh/p0.png").unlink()
    (root / "x/elsewhere/p1.png").unlink()
    (root / "x/elsewhere/p1.png").symlink_to(tmp_path / "nowhere.png")
    image_files.cache_clear()
    for document in (chinese, alone):
        with pytest.raises(DataError, match=rf"there is no image {document.name}.png below"):
            benchmark.page_image(document, 0)
        assert benchmark.fingerprint(document, images=True) != benchmark.fingerprint(english, images=True)


@pytest.mark.parametrize(
    ("content", "message"),
    [
        ("{", r"set\.json: .*JSON"),
        ("{}", r"set\.json: must be a JSON list of pages"),
        ("[1]", r"entry 1: must be an object"),
        ("[{}]", r"entry 1: .*layout_dets"),
        (json.dumps([page(image="")]), r"entry 1: .*image_path"),
        (json.dumps([page(image="/etc/a.png")]), r"entry 1: .*image_path"),
        (json.dumps([page(image="../a.png")]), r"entry 1: .*image_path"),
        (json.dumps([page(data_source="..")]), r"entry 1: the name of the page"),
        (json.dumps([page(data_source="d" * 300)]), r"entry 1: the name of the page"),
        ("[]", "holds no page"),
        (json.dumps([PAGE, PAGE]), r"entry 2: the image 'a\.jpg' is that of .*entry 1, too"),
        (json.dumps([page(blocks=[{**TEXT, "text": 3}])]), r"entry 1: layout_dets\[0\]\.text"),
        (json.dumps([page(blocks=[{**TEXT, "order": "1"}])]), r"entry 1: .*order"),
        (json.dumps([[page(blocks=[TEXT] * 99)] * 9]), r"entry 1: must be an object, as all pages \(got .{,430}$"),
        (json.dumps([page(blocks=[{**TEXT, "order": [TEXT] * 99}])]), r"entry 1: .{,500}$"),
    ],
)
def test_what_is_no_annotation_is_refused_with_its_place(tmp_path, content, message):
    (tmp_path / "set.json").write_text(content, encoding="utf-8")
    with pytest.raises(DataError, match=message):
        OmniDocBench(root=tmp_path).documents()


def test_folders_without_annotations_and_with_several_are_refused(tmp_path):
    with pytest.raises(DataError, match="holds no annotations"):
        OmniDocBench(root=tmp_path).documents()
    copy(tmp_path, PAGE)
    (tmp_path / "other.json").write_text("[]")
    with pytest.raises(DataError, match=r"2 JSON files \(other.json, set.json\): set `root` to one of them"):
        OmniDocBench(root=tmp_path).documents()
    assert len(OmniDocBench(root=tmp_path / "set.json").documents()) == 1


def test_blocks_of_unknown_categories_are_counted(tmp_path):
    (note,) = OmniDocBench(root=copy(tmp_path, page(blocks=[TEXT, {**TEXT, "category_type": "seal"}]))).notes()
    assert note == "1 block of categories that no version scores: seal (1)"
    (note,) = OmniDocBench(root=copy(tmp_path, page(blocks=[TEXT, {**TEXT, "category_type": " "}]))).notes()
    assert note == "1 block of categories that no version scores: ' ' (1)"


def test_tables_that_are_none_and_languages_without_a_code_are_counted(tmp_path):
    table = {"category_type": "table", "order": 2, "anno_id": 2, "html": "a & b"}
    root = copy(tmp_path, page(blocks=[TEXT, table], language="klingon"), page("b.jpg", language="thai"))
    assert OmniDocBench(root=root).notes() == (
        "1 table of the truth without HTML of a table, whose TEDS is 0",
        "1 page in a language without a code, taken for English: klingon",
    )


def test_a_folder_that_is_named_for_images_must_hold_one(tmp_path):
    root = copy(tmp_path / "set", PAGE)
    for images in (tmp_path / "absent", root / "set.json", tmp_path / "empty"):
        (tmp_path / "empty").mkdir(exist_ok=True)
        with pytest.raises(
            DataError, match=r"`images` must be a folder with images of pages, and (holds none|is no folder)"
        ):
            OmniDocBench(root=root, images=images).check()


def test_results_are_found_by_the_name_of_the_image(tmp_path):
    benchmark = OmniDocBench(root=copy(tmp_path / "set", page("x/a.pdf_3.jpg"), page("y/a.pdf_3.jpg"), page("z/b.png")))
    results = tmp_path / "results"
    for name in ("x/a.pdf_3.md", "deep/b.png.md", "README.txt"):
        (results / name).parent.mkdir(parents=True, exist_ok=True)
        (results / name).write_text("" if name.startswith("x") else "read")
    assert benchmark.results(results) == {"x/a.pdf_3": ["\n"], "z/b": ["read"]}
    assert benchmark.results(tmp_path / "set") is None
    (results / "b.md").write_text("again")
    with pytest.raises(DataError, match=r"another file of .* is of the page z/b, too"):
        benchmark.results(results)
    (tmp_path / "strange").mkdir()
    (tmp_path / "strange/c.md").write_text("read")
    with pytest.raises(DataError, match=r"none of its 1 file \(c.md\) is called as a page's image is, such as x/a"):
        benchmark.results(tmp_path / "strange")
