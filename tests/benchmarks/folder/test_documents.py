import os
from pathlib import Path

import numpy as np
import pypdfium2
import pytest

from ohr.contracts import Document
from ohr.errors import DataError
from ohr.files.names import printable

from .conftest import picture, write_image, write_incomplete, write_pdf


def pages(own, **keys):
    return {document.name: document.pages for document in own.benchmark(**keys).documents()}


def test_pdfs_image_folders_and_single_images_are_documents(own):
    write_pdf(own.root / "a.pdf", "one", "two")
    write_pdf(own.root / "law/b.PDF", "one")
    for number in (1, 2, 10):
        write_image(own.root / f"scans/c/{number}.png", f"page {number}")
    write_image(own.root / "d.jpg", "photo")
    write_image(own.root / "fax/f.tiff", "one", "two", "three")
    write_image(own.root / ".trash/x.png", "hidden")
    (own.root / "notes.txt").write_text("not a document")
    assert pages(own) == {"documents/a": 2, "documents/d": 1, "documents/fax": 3, "law/b": 1, "scans/c": 3}


def test_pages_of_an_image_folder_come_in_natural_order(own):
    for number in (10, 2, 1):
        write_image(own.root / f"scans/c/{number}.png", f"page {number}")
    benchmark = own.benchmark()
    (document,) = benchmark.documents()
    for index, number in enumerate((1, 2, 10)):
        assert np.array_equal(benchmark.page_image(document, index), picture(f"page {number}"))


def test_frames_of_a_tiff_file_are_pages(own):
    write_image(own.root / "fax/1.tiff", "one", "two")
    write_image(own.root / "fax/2.png", "three")
    benchmark = own.benchmark()
    (document,) = benchmark.documents()
    assert [benchmark.page_image(document, i).shape for i in range(3)] == [
        np.asarray(picture(text)).shape for text in ("one", "two", "three")
    ]
    with pytest.raises(DataError, match="no page 3: it has 3 pages"):
        benchmark.page_image(document, 3)


@pytest.mark.parametrize("content", [b"", b"not an image"])
def test_a_damaged_image_fails_alone(own, content):
    write_image(own.root / "c/1.png", "good")
    (own.root / "c/2.png").write_bytes(content)
    benchmark = own.benchmark()
    (document,) = benchmark.documents()
    assert document.pages == 2
    assert benchmark.page_image(document, 0).size
    with pytest.raises(DataError, match=r"2\.png: (the file is empty|cannot be read as an image)"):
        benchmark.page_image(document, 1)
    assert [note for note in benchmark.notes() if note.startswith("fails: ") and "2.png: " in note]


def encrypted(path):
    made = pypdfium2.PdfDocument.new()
    made.new_page(72, 72)
    made.save(path)
    secret = b"<</Filter/Standard/V 1/R 2/O<" + b"00" * 32 + b">/U<" + b"00" * 32 + b">/P -4>>"
    data = path.read_bytes()
    path.write_bytes(data.replace(b"trailer\r\n<<", b"trailer\r\n<</Encrypt " + secret).replace(
        b"trailer\n<<", b"trailer\n<</Encrypt " + secret))  # fmt: skip


@pytest.mark.parametrize("damage", ["empty", "cut", "encrypted"])
def test_a_pdf_that_cannot_be_read_is_left_out_and_reported(two, damage):
    path = two.root / "bad.pdf"
    match damage:
        case "empty":
            path.write_bytes(b"")
        case "cut":
            path.write_bytes((two.root / "lease.pdf").read_bytes()[:60])
        case "encrypted":
            encrypted(path)
    two.ask({"question": "?", "document": "bad.pdf", "page": 7, "evidence": "x", "answers": "y"})
    benchmark = two.benchmark()
    assert [document.name for document in benchmark.documents()] == ["bylaws/noise", "documents/lease"]
    assert benchmark.questions()[0].document == "documents/bad"
    (note,) = [note for note in benchmark.notes() if note.startswith("left out: ")]
    assert "bad.pdf: " in note
    assert (damage == "encrypted") == ("encrypted with a password" in note)


@pytest.mark.parametrize("content", [None, {}, {"a.txt": b"x"}, {"a.pdf": b""}])
def test_a_folder_without_documents_is_refused(own, content):
    if content is None:
        own.root.rmdir()
    for name, data in (content or {}).items():
        (own.root / name).write_bytes(data)
    with pytest.raises(DataError, match="no such folder" if content is None else "holds no readable PDF"):
        own.benchmark().check()


def test_two_documents_of_one_name_are_refused(own):
    write_pdf(own.root / "a.pdf", "x")
    write_image(own.root / "a.png", "x")
    with pytest.raises(DataError, match="two documents are named 'documents/a'"):
        own.benchmark().documents()


def test_a_changed_file_has_another_fingerprint(two):
    benchmark = two.benchmark(ground_truth="text_layer")
    document = Document("documents/lease", "documents", "en", 2)
    before = [benchmark.fingerprint(document, images=images) for images in (True, False)]
    path = write_pdf(two.root / "lease.pdf", "The lease began in 1965.", "It ends in 2034.")
    os.utime(path, ns=(1, 1))
    after = [benchmark.fingerprint(document, images=images) for images in (True, False)]
    assert not set(before) & set(after)


@pytest.mark.parametrize(
    ("name", "shown"),
    [
        (b"caf\xe9.png", "documents/caf\N{REPLACEMENT CHARACTER}"),
        (b"a\x1b[31m.png", "documents/a\N{REPLACEMENT CHARACTER}[31m"),
        (b"scan\xff/1.png", "documents/scan\N{REPLACEMENT CHARACTER}"),
    ],
)
def test_a_file_whose_name_cannot_be_written_is_left_out_with_a_note(own, name, shown):
    write_image(own.root / "good.png", "good")
    write_image(own.root / os.fsdecode(name), "bad")
    own.ask({"question": "?", "document": "good", "page": 1})
    benchmark = own.benchmark()
    benchmark.check()
    assert [document.name for document in benchmark.documents()] == ["documents/good"]
    own.ask({"question": "?", "document": shown})
    assert benchmark.questions()[0].document == shown  # it stays, and scores 0
    path = own.root / printable(os.fsdecode(name))
    note = f"left out: {path}: its name has control characters or is not UTF-8: rename it"
    assert note in benchmark.notes()


def test_a_page_is_read_without_a_look_at_every_file(own, monkeypatch):
    for number in range(3):
        write_image(own.root / f"{number}.png", "page")
    benchmark = own.benchmark()
    document = benchmark.documents()[0]
    monkeypatch.setattr(Path, "rglob", lambda *_: pytest.fail("the folder was searched"))
    assert benchmark.page_image(document, 0).size
    assert benchmark.fingerprint(document, images=True)


def test_files_that_nothing_takes_are_listed(own):
    write_pdf(own.root / "a.pdf", "one")
    for name in ("letter/2.heic", "notes.docx"):
        (own.root / name).parent.mkdir(exist_ok=True)
        (own.root / name).write_bytes(b"x")
    (own.root / "truth/documents").mkdir(parents=True)
    (own.root / "truth/documents/a.json").write_text("[]")
    (note,) = [line for line in own.benchmark(ground_truth=own.root / "truth").notes() if "left out" in line]
    assert "2 files that cannot be read as a PDF or an image: letter/2.heic, notes.docx" in note


def test_a_page_that_is_missing_is_a_warning_and_the_others_are_truth(own):
    path = write_pdf(own.root / "log.pdf", "herrings", "kelp", "lanterns")
    content = bytearray(path.read_bytes())
    entry = content.index(b"xref\n0 10\n") + len(b"xref\n0 10\n") + 20 * 7  # of the second page
    content[entry : entry + 20] = b"0000000000 00000 f \n"
    path.write_bytes(bytes(content))
    benchmark = own.benchmark(ground_truth="text_layer")
    (document,) = benchmark.documents()
    assert {page.index: page.text for page in benchmark.pages(document)} == {0: "herrings", 2: "lanterns"}
    assert any("page 2 of 3 is missing or damaged" in note for note in benchmark.notes())


def test_a_folder_is_looked_at_without_questions(own):
    write_pdf(own.root / "a.pdf", "one")
    (own.root / "b.pdf").write_bytes(b"%PDF-1.4 broken")
    (note,) = own.benchmark("none.csv").notes()
    assert "left out" in note and "b.pdf" in note


def test_pages_whose_text_layer_is_not_whole_are_warned_of(own):
    write_incomplete(own.root / "half.pdf")
    first, advice = list(own.benchmark(ground_truth="text_layer", ocr_sample=0).notes())[-2:]
    assert first == "documents/half page 1: the text layer is incomplete: 5 of 39 glyphs have no Unicode"
    assert advice.startswith("text layers: 1 incomplete; ")
