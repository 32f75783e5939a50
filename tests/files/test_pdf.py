from zlib import compress

import numpy as np
import pytest

from ohr.errors import DataError
from ohr.files.pdf import _states_units, faults, page_count, render, unknown_filters


def pdf(*objects, trailer="/Root 1 0 R"):
    """Write a PDF by hand: objects numbered from 1, a cross-reference table, a trailer."""
    body, places = b"%PDF-1.4\n", []
    for number, content in enumerate(objects, start=1):
        places.append(len(body))
        body += f"{number} 0 obj\n{content}\nendobj\n".encode("latin-1")
    table = "".join(f"{place:010} 00000 n \n" for place in places)
    size = len(objects) + 1
    end = f"trailer\n<< /Size {size} {trailer} >>\nstartxref\n{len(body)}\n%%EOF\n"
    return body + f"xref\n0 {size}\n0000000000 65535 f \n{table}{end}".encode()


DRAWING = "1 0 0 rg 0 0 36 72 re f"  # the left half red
PAGE = "<< /Type /Page /Parent 2 0 R /MediaBox [0 0 72 72] /Contents 4 0 R >>"
STREAM = f"<< /Length {len(DRAWING)} >>\nstream\n{DRAWING}\nendstream"
CATALOG = "<< /Type /Catalog /Pages 2 0 R >>"
ONE_PAGE = pdf(CATALOG, "<< /Type /Pages /Kids [3 0 R] /Count 1 >>", PAGE, STREAM)
NO_PAGE = pdf(CATALOG, "<< /Type /Pages /Kids [] /Count 0 >>")
LOST_PAGE = pdf(CATALOG, "<< /Type /Pages /Kids [9 0 R] /Count 1 >>")
LOCK = "<< /Filter /Standard /V 1 /R 2 /P -44 /O <" + "5" * 64 + "> /U <" + "6" * 64 + "> >>"
LOCKED = pdf(
    CATALOG, "<< /Type /Pages /Kids [3 0 R] /Count 1 >>", PAGE, STREAM, LOCK,
    trailer="/Root 1 0 R /Encrypt 5 0 R /ID [<00> <00>]",
)  # fmt: skip


def packed(filters):
    """Write a PDF whose catalog and pages are in an object stream, compressed by Flate whatever its dictionary says."""
    inside = [CATALOG, "<< /Type /Pages /Kids [3 0 R] /Count 1 >>", PAGE.replace("4 0 R", "5 0 R")]
    numbers = " ".join(f"{number} {sum(len(each) + 1 for each in inside[: number - 1])}" for number in (1, 2, 3))
    objects = compress(f"{numbers} {' '.join(inside)}".encode())
    body, places = b"%PDF-1.7\n", []
    about = f"/Type /ObjStm /N 3 /First {len(numbers) + 1} /Filter {filters}"
    for number, (more, content) in enumerate(((about, objects), ("", DRAWING.encode())), start=4):
        places.append(len(body))
        body += f"{number} 0 obj\n<< {more} /Length {len(content)} >>\nstream\n".encode() + content
        body += b"\nendstream\nendobj\n"
    rows = [(0, 0, 255), *((2, 4, n) for n in range(3)), *((1, place, 0) for place in (*places, len(body)))]
    table = b"".join(bytes([kind]) + at.to_bytes(2, "big") + bytes([more]) for kind, at, more in rows)
    about = f"/Type /XRef /Size 7 /W [1 2 1] /Root 1 0 R /Length {len(table)}"
    return (
        body
        + f"6 0 obj\n<< {about} >>\nstream\n".encode()
        + table
        + (f"\nendstream\nendobj\nstartxref\n{len(body)}\n%%EOF\n".encode())
    )


@pytest.fixture
def file(tmp_path):
    def write(content):
        (tmp_path / "a.pdf").write_bytes(content)
        return tmp_path / "a.pdf"

    return write


def message_of(path, index=0):
    with pytest.raises(DataError) as caught:
        render(path, index, 72)
    return str(caught.value).removeprefix(f"{path}: ")


def test_a_page_is_rendered_in_rgb(file):
    image = render(file(ONE_PAGE), 0, 144)
    assert (image.shape, image.dtype) == ((144, 144, 3), np.uint8)
    assert image[70, 10].tolist() == [255, 0, 0]
    assert image[70, 130].tolist() == [255, 255, 255]


@pytest.mark.parametrize(
    ("content", "index", "message"),
    [
        (None, 0, "no such file"),
        (b"", 0, "the file is empty"),
        (LOCKED, 0, "it is encrypted with a password ("),
        (b"hello", 0, "it is not a PDF, or damaged ("),
        (ONE_PAGE[:120], 0, "it is not a PDF, or damaged ("),
        (NO_PAGE, 0, "it is not a PDF, or damaged ("),
        (ONE_PAGE, -1, "no page -1: it has 1 page, counted from 0"),
        (ONE_PAGE, 1, "no page 1: it has 1 page, counted from 0"),
        (LOST_PAGE, 0, "page 1 does not render: Failed to load page."),
    ],
)
def test_what_cannot_be_rendered_is_reported(tmp_path, file, content, index, message):
    path = tmp_path / "a.pdf" if content is None else file(content)
    assert message_of(path, index).startswith(message)


def test_a_page_larger_than_any_page_is_refused_before_it_is_rendered(file):
    path = file(pdf(CATALOG, "<< /Type /Pages /Kids [3 0 R] /Count 1 >>", PAGE.replace("72 72", "7200 7200"), STREAM))
    with pytest.raises(DataError, match="page 1 at 200 dpi: 20000 x 20000 pixels are too many for a page"):
        render(path, 0, 200)
    assert render(path, 0, 20).shape == (2000, 2000, 3)
    (fault,) = faults(path, 200)
    assert "page 1 of 1 at 200 dpi" in fault and "109 dpi would do" in fault
    assert list(faults(path, 100)) == []


@pytest.mark.parametrize(
    ("tree", "fault"),
    [
        ("/Kids [2 0 R 2 0 R] /Count 1000000 /Parent 2 0 R", "claims 1,000,000 pages, and no document has more than"),
        ("/Kids [3 0 R] /Count 200000", "claims 200,000 pages, and no document has more than 100,000"),
        ("/Kids [3 0 R] /Count 50000", "claims 50,000 pages, but the last of them is missing"),
    ],
)
def test_a_count_without_pages_is_refused(file, tree, fault):
    with pytest.raises(DataError, match=fault):
        page_count(file(pdf(CATALOG, f"<< /Type /Pages {tree} >>", PAGE, STREAM)))


def test_pages_are_counted_and_a_small_count_is_believed_so_that_a_lost_page_costs_only_itself(file):
    assert page_count(file(ONE_PAGE)) == 1
    assert page_count(file(pdf(CATALOG, "<< /Type /Pages /Kids [3 0 R 9 0 R] /Count 2 >>", PAGE, STREAM))) == 2


def test_a_page_in_larger_units_is_rendered_at_its_size(file):
    large = PAGE.replace("[0 0 72 72]", "[0 0 72 72] /UserUnit 2.5")
    path = file(pdf(CATALOG, "<< /Type /Pages /Kids [3 0 R] /Count 1 >>", large, STREAM))
    assert render(path, 0, 72).shape == (180, 180, 3)


def test_units_in_compressed_objects_are_found(file):
    inside = compress(b"3 0 << /Type /Page /UserUnit 2 >>")
    path = file(b"%PDF-1.5\n9 0 obj\n<< /Type /ObjStm /N 1 /First 4 >>\nstream\n" + inside + b"\nendstream\nendobj\n")
    assert _states_units(path)


def test_a_file_in_object_streams_is_read(file):
    assert page_count(file(packed("/FlateDecode"))) == 1
    assert render(file(packed("[ /FlateDecode ]")), 0, 72)[30, 5].tolist() == [255, 0, 0]


@pytest.mark.parametrize("filters", ["/BrotliDecode", "[/BrotliDecode/FlateDecode]", "/Brotli#44ecode"])
def test_a_file_that_an_unknown_filter_compresses_is_named_with_it(file, filters):
    path = file(packed(filters))
    assert message_of(path).startswith("it is compressed by BrotliDecode, which is not read here")


def test_a_page_whose_content_an_unknown_filter_compresses_is_reported(file):
    kids = "<< /Type /Pages /Kids [3 0 R 5 0 R] /Count 2 >>"
    odd = STREAM.replace("<< ", "<< /Filter /FoldDecode ")
    path = file(pdf(CATALOG, kids, PAGE, STREAM, PAGE.replace("4 0 R", "6 0 R"), odd))
    assert list(faults(path, 72)) == [
        f"{path}: page 2 of 2 lacks what is compressed by FoldDecode, which is not read here"
    ]
    assert list(faults(file(pdf(CATALOG, kids, PAGE, STREAM, PAGE)), 72)) == []


def test_a_filter_of_encryption_or_of_the_format_compresses_nothing_unknown():
    image = "<< /Subtype /Image /Filter [/A85 /DCTDecode] /Length 4 >>\nstream\n/Filter /Other\nendstream"
    assert unknown_filters(LOCKED + pdf(CATALOG, image, "<< /Type /Sig /Filter /Adobe.PPKLite >>", STREAM)) == []
