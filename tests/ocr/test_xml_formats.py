"""Readers of hOCR, ALTO and PAGE XML."""

import json

import pytest

from ohr.contracts import Block, Word
from ohr.ocr.formats.cells import Cell, html_table
from ohr.ocr.formats.find import content_of, parsed
from ohr.ocr.formats.values import Unreadable
from ohr.registry import Registry

FORMATS = {kind: Registry().load("ocr_format", kind)() for kind in ("hocr", "alto", "page_xml")}


def read(system: str, content: str | bytes):
    return content_of(FORMATS[system], ".xml", content if isinstance(content, bytes) else content.encode()).pages


def words(system: str, content: str):
    return FORMATS[system].words(parsed(content.encode(), ".xml"))


def text(said: str) -> Block:
    return Block("text", said)


# --- hOCR -------------------------------------------------------------------------------------------------


def hocr(*pages: str, head: str = "") -> str:
    return f"<html xmlns='http://www.w3.org/1999/xhtml'><head>{head}</head><body>{''.join(pages)}</body></html>"


def hocr_page(inside: str, title: str = "bbox 0 0 90 90") -> str:
    return f"<div class='ocr_page' title='{title}'>{inside}</div>"


LINE = """<span class='ocr_line' title='bbox 1 2 30 8'>
 <span class='ocrx_word' title='bbox 1 2 9 8; x_wconf 92'>Salted</span>
 <span class='ocrx_word' title="bbox 10 2 30 8; x_wconf 7"><strong>in May</strong></span></span>"""


@pytest.mark.parametrize(
    ("inside", "blocks"),
    [
        (f"<div class='ocr_carea'><p class='ocr_par'>{LINE}{LINE}</p></div>", [text("Salted in May\nSalted in May")]),
        (f"<p class='ocr_par'>{LINE}</p><p class='ocr_par'>Rent</p>", [text("Salted in May"), text("Rent")]),
        ("Page <b>1</b>", [text("Page 1")]),
        ("<span class='ocr_line'>Salt</span><br /><span class='ocr_line'>Rent</span>", [text("Salt\nRent")]),
        (f"<div class='ocr_header'>7</div><div class='ocr_pageno'>8</div>{LINE}<div class='ocr_footer'>end</div>",
         [Block("header", "7"), Block("page_number", "8"), text("Salted in May"), Block("footer", "end")]),
        ("<p class='ocr_par'><span class='ocr_header'>Of Tesseract</span></p>", [text("Of Tesseract")]),
        ("<span class='ocrx_word'>Salt</span><span class='ocrx_word'>fish</span>", [text("Salt fish")]),
        ("<span class='ocrx_word'><span class='ocrx_cinfo'>S</span>\n <span class='ocrx_cinfo'>o</span></span>",
         [text("So")]),
        ("<span class='ocrx_word'><ins class='alt'>III</ins><del class='alt'>U</del></span>", [text("III")]),
        ("<table class='ocr_table'><tr><th colspan='2'>Rent</th></tr><tr><td>May</td><td>3 &lt; 4</td></tr></table>",
         [Block("table", '<table><tr><th colspan="2">Rent</th></tr><tr><td>May</td><td>3 &lt; 4</td></tr></table>')]),
        ("<div class='ocr_photo' title='bbox 1 1 2 2'></div>", []),
    ],
)  # fmt: skip
def test_blocks_of_hocr(inside, blocks):
    assert read("hocr", hocr(hocr_page(inside))) == {0: tuple(blocks)}


def test_words_of_hocr_have_their_confidence():
    assert words("hocr", hocr(hocr_page(LINE))) == {
        0: (Word("Salted", (1, 2, 9, 8), 0.92), Word("in May", (10, 2, 30, 8), 0.07))
    }
    lines = "<span class='ocr_line' title='x_wconf 50'>Salt</span>"
    lines += "<span class='ocr_line' title='bbox 1 2 x 4; x_conf 5'>a</span>"
    assert words("hocr", hocr(hocr_page(lines))) == {0: (Word("Salt", None, 0.5), Word("a", None, 0.05))}
    assert words("hocr", hocr(hocr_page("Salt"))) == {0: ()}


@pytest.mark.parametrize(
    ("stated", "numbers"),
    [([0, 1], [0, 1]), ([1, 2], [0, 1]), ([0, 3], [0, 3]), ([0, 0], [0, 1]), ([5, 4], [0, 1]), ([0, 10**9], [0, 1])],
)
def test_pages_of_hocr_have_their_numbers_where_these_rise(stated, numbers):
    pages = (hocr_page("Salt", f"ppageno {number}") for number in stated)
    assert list(read("hocr", hocr(*pages))) == numbers


@pytest.mark.parametrize(
    "broken",
    [
        "<meta name='ocr-system' content='old'>" + hocr_page(LINE),
        hocr_page(LINE.replace("May", "May&nbsp;")),
        hocr_page("<p>" + LINE + "</div></p>") + "</span>",
        hocr_page(LINE + "<!-- a -- comment <b> -->"),
        hocr_page(LINE + "<p>").removesuffix("</div>"),
        hocr_page(LINE.replace("<strong>", "<STRONG>")),
    ],
)
def test_hocr_that_is_not_well_formed_is_read(broken):
    content = f"<!DOCTYPE html PUBLIC '-//W3C' 'http://localhost/xhtml1.dtd'><html><body>{broken}</body></html>"
    assert read("hocr", content) == {0: (text("Salted in May"),)}


# --- ALTO -------------------------------------------------------------------------------------------------


def alto(inside: str, before: str = "", namespace: str = "xmlns='http://www.loc.gov/standards/alto/ns-v3#'") -> str:
    return f"<?xml version='1.0'?><alto {namespace}>{before}<Layout>{inside}</Layout></alto>"


def alto_page(*lines: str, about: str = "") -> str:
    return f"<Page {about}><PrintSpace>{alto_block(*lines)}</PrintSpace></Page>"


def alto_block(*lines: str, about: str = "") -> str:
    return f"<TextBlock {about}>{''.join(f'<TextLine>{line}</TextLine>' for line in lines)}</TextBlock>"


def strings(*texts: str, about: str = "", between: str = "<SP/>") -> str:
    return between.join(f"<String CONTENT='{text}' {about}/>" for text in texts)


FIRST = "<String CONTENT='mark' SUBS_TYPE='HypPart1' SUBS_CONTENT='market'/><HYP CONTENT='\xad'/>"
SECOND = "<String CONTENT='et' SUBS_TYPE='HypPart2' SUBS_CONTENT='market'/>"


@pytest.mark.parametrize(
    ("lines", "said"),
    [
        ([strings("Salt", "fish"), strings("Rent")], "Salt fish\nRent"),
        ([strings("Salt", "fish", between="")], "Salt fish"),  # a file without any space
        ([strings("No", ".", between="") + "<SP/>" + strings("7")], "No. 7"),
        ([strings("the mark") + "<HYP CONTENT='\xad'/>", strings("et")], "the mark-\net"),
        ([strings("the mark") + "<HYP/>", strings("et")], "the mark-\net"),
        ([strings("the") + "<SP/>" + FIRST, SECOND + "<SP/>" + strings("day")], "the market\nday"),
        ([SECOND + "<SP/>" + strings("day")], "et day"),  # whose first part is on the page before
        ([FIRST, strings("day")], "market\nday"),
    ],
)
def test_lines_of_alto(lines, said):
    assert read("alto", alto(alto_page(*lines))) == {0: (text(said),)}


def test_strings_of_alto_without_a_line_are_read():
    assert read("alto", alto(f"<Page><TextBlock>{strings('Salt', 'fish')}</TextBlock></Page>")) == {
        0: (text("Salt fish"),)
    }


def test_a_parted_word_of_alto_is_as_sure_as_its_less_sure_part():
    first, second = FIRST.replace("/>", " WC='0.9'/>", 1), SECOND.replace("/>", " WC='0.4'/>")
    words = FORMATS["alto"].words(alto(alto_page(first, second + "<SP/>" + strings("day", about="WC='1'"))))
    assert [(word.text, word.confidence) for word in words[0]] == [("market", 0.4), ("day", 1.0)]


@pytest.mark.parametrize(
    "namespace", ["", "xmlns='http://www.loc.gov/standards/alto/ns-v4#'", "xmlns='http://schema.ccs-gmbh.com/ALTO'"]
)
def test_alto_of_any_version_is_read(namespace):
    assert read("alto", alto(alto_page(strings("Salt")), "", namespace)) == {0: (text("Salt"),)}
    prefixed = (
        "<a:alto xmlns:a='urn:x'><a:Layout><a:Page><a:TextBlock><a:TextLine><a:String CONTENT='Salt'/></a:TextLine>"
    )
    assert read("alto", prefixed + "</a:TextBlock></a:Page></a:Layout></a:alto>") == {0: (text("Salt"),)}


def test_margins_tags_and_order_of_alto():
    margins = (
        f"<BottomMargin>{alto_block(strings('7'))}</BottomMargin><TopMargin>{alto_block(strings('Top'))}</TopMargin>"
    )
    blocks = alto_block(strings("Second")), alto_block(strings("First"), about="ID='b' TAGREFS='t x'")
    page = f"<Page>{margins}<PrintSpace><ComposedBlock>{''.join(blocks)}</ComposedBlock></PrintSpace></Page>"
    tags = "<Tags><LayoutTag ID='t' LABEL='heading'/><OtherTag ID='x' LABEL='MainZone'/></Tags>"
    read_in_place = read("alto", alto(page, tags))[0]
    assert [(block.kind, block.text) for block in read_in_place] == [
        ("header", "Top"), ("text", "Second"), ("heading", "First"), ("footer", "7"),
    ]  # fmt: skip
    order = "<ReadingOrder><OrderedGroup><ElementRef REF='b'/><ElementRef REF='a'/></OrderedGroup></ReadingOrder>"
    ordered = page.replace("<TextLine><String CONTENT='Second'", "<TextLine ID='a'><String CONTENT='Second'")
    ordered = ordered.replace("<ComposedBlock><TextBlock ", "<ComposedBlock><TextBlock ID='c' ")
    assert [block.text for block in read("alto", alto(ordered, order))[0]] == ["Top", "First", "Second", "7"]


def test_pages_of_alto_have_their_numbers():
    pages = [alto_page(strings("Salt"), about=f"PHYSICAL_IMG_NR='{number}'") for number in (3, 5)]
    assert list(read("alto", alto("".join(pages)))) == [0, 2]


def test_words_of_alto_have_boxes_in_pixels_only():
    line = strings("Salt", about="WC='0.5' HPOS='1' VPOS='2.5' WIDTH='10' HEIGHT='4'") + strings("fish")
    assert words("alto", alto(alto_page(line))) == {0: (Word("Salt", (1, 2.5, 11, 6.5), 0.5),)}
    unit = "<Description><MeasurementUnit>mm10</MeasurementUnit></Description>"
    assert words("alto", alto(alto_page(line), unit)) == {0: (Word("Salt", None, 0.5),)}


# --- PAGE -------------------------------------------------------------------------------------------------


def page_xml(inside: str) -> str:
    return (
        f"<PcGts xmlns='http://schema.primaresearch.org/PAGE/gts/pagecontent/2019-07-15'><Page>{inside}</Page></PcGts>"
    )


def said(words: str, about: str = "") -> str:
    return f"<TextEquiv {about}><Unicode>{words}</Unicode></TextEquiv>"


def region(id: str, inside: str, about: str = "") -> str:
    return f"<TextRegion id='{id}' {about}>{inside}</TextRegion>"


HALF_SURE, SURE, STATED = 'conf="0.5"', 'conf="1"', 'conf="STATED"'
REGIONS = region("a", said("First"), "type='heading'") + region("b", said("Second"), "type='catch-word'")


@pytest.mark.parametrize(
    ("inside", "blocks"),
    [
        (REGIONS, [Block("heading", "First"), Block("footer", "Second")]),
        ("<ReadingOrder><OrderedGroup><RegionRefIndexed index='1' regionRef='a'/>"
         f"<RegionRefIndexed index='0' regionRef='b'/></OrderedGroup></ReadingOrder>{REGIONS}",
         [Block("footer", "Second"), Block("heading", "First")]),
        ("<ReadingOrder><UnorderedGroup><OrderedGroup><RegionRefIndexed index='0' regionRef='b'/></OrderedGroup>"
         f"<RegionRef regionRef='a'/></UnorderedGroup></ReadingOrder>{REGIONS}",
         [Block("footer", "Second"), Block("heading", "First")]),
        (region("a", f"<TextLine>{said('Salt')}</TextLine><TextLine>{said('')}</TextLine>" + said("Old")),
         [text("Salt")]),
        (region("a", f"<TextLine><Word>{said('Salt')}</Word><Word><Glyph>{said('o')}</Glyph></Word></TextLine>"),
         [text("Salt o")]),
        (region("a", f"<TextLine>{said('')}{said('Salt')}</TextLine>"), [text("Salt")]),
        (said("Salt"), [text("Salt")]),  # of the page itself
        (region("a", said("worse", "index='2'") + said("odd") + said("better", "index='1'")), [text("better")]),
        (region("a", f"<TextLine custom='readingOrder {{index:1;}}'>{said('two')}</TextLine>"
         f"<TextLine custom='readingOrder {{index:0;}}'>{said('one')}</TextLine>",
         "custom='readingOrder {index:0;} structure {type:page-number;}'"), [Block("page_number", "one\ntwo")]),
        (f"<GraphicRegion>{region('a', said('on a seal'))}</GraphicRegion>", [text("on a seal")]),
        (f"<TableRegion><TableCell row='0' col='0' colSpan='2'><TextLine>{said('Rent')}</TextLine></TableCell>"
         f"<TableCell row='1' col='1'>{said('3')}</TableCell></TableRegion>",
         [Block("table", '<table><tr><td colspan="2">Rent</td></tr><tr><td></td><td>3</td></tr></table>')]),
        ("<TableRegion><TextRegion><Roles><TableCellRole rowIndex='0' columnIndex='0' header='true'/></Roles>"
         + said("Rent") + "</TextRegion></TableRegion>", [Block("table", "<table><tr><th>Rent</th></tr></table>")]),
        ("", []),
    ],
)  # fmt: skip
def test_blocks_of_page_xml(inside, blocks):
    assert read("page_xml", page_xml(inside)) == {0: tuple(blocks)}


def test_words_of_page_xml_have_their_confidence():
    sure = f"<Word><Coords points='1,2 9,2 9,-8'/>{said('Salt', HALF_SURE)}</Word><Word>{said('fish')}</Word>"
    line = f"<TextLine><Coords><Point x='1' y='2'/><Point x='3' y='4'/></Coords>{said('Rent', SURE)}</TextLine>"
    page = page_xml(region("a", f"<TextLine>{sure}{said('Salt fish', SURE)}</TextLine>{line}"))
    assert words("page_xml", page) == {0: (Word("Salt", (1, -8, 9, 2), 0.5), Word("Rent", (1, 2, 3, 4), 1.0))}


# --- what is refused --------------------------------------------------------------------------------------

A = "a" * 200_000
BOMB = "<!DOCTYPE x [<!ENTITY a 'aaaa'><!ENTITY b '&a;&a;&a;'>]>"
SOUND = {"hocr": hocr(hocr_page(LINE)), "alto": alto(alto_page(strings("Salt"))), "page_xml": page_xml(REGIONS)}
ROOTS = {"hocr": "html", "alto": "alto", "page_xml": "PcGts"}


@pytest.mark.parametrize("system", SOUND)
def test_entities_depth_and_other_formats_are_refused(system, tmp_path):
    secret = tmp_path / "secret"
    secret.write_text("Salt")
    content = SOUND[system].removeprefix("<?xml version='1.0'?>")
    for declared in (BOMB, f"<!DOCTYPE x [<!ENTITY a SYSTEM '{secret.as_uri()}'>]>"):
        with pytest.raises(Unreadable, match=r"^XML that declares entities$"):
            read(system, declared + content)
    with pytest.raises(Unreadable, match=r"^XML that declares attributes$"):
        read(system, f"<!DOCTYPE x [<!ATTLIST String CONTENT CDATA '{A}'>]>{content}")
    assert read(system, f"<!DOCTYPE x SYSTEM '{secret.as_uri()}'>{content}") == read(system, content)
    for other in ("", "<a/>", "{}", *(each for kind, each in SOUND.items() if kind != system)):
        with pytest.raises(Unreadable, match=r"^not "):
            read(system, other)
        with pytest.raises(ValueError, match="not "):
            FORMATS[system].fits(other)


@pytest.mark.parametrize(
    ("system", "opening", "closing"),
    [
        ("hocr", "<html><body><div class='ocr_page'>" + "<div>" * 100_000, "</div>" * 100_001 + "</body></html>"),
        ("hocr", "<html><div class='ocr_page'>" + "<div>" * 100_000, ""),
        ("page_xml", "<PcGts><Page>" + "<TextRegion>" * 100_000, "</TextRegion>" * 100_000 + "</Page></PcGts>"),
        (
            "page_xml",
            "<PcGts><Page><ReadingOrder>" + "<a>" * 100_000,
            "</a>" * 100_000 + "</ReadingOrder></Page></PcGts>",
        ),
    ],
)
def test_a_file_that_is_too_deep_is_refused(system, opening, closing):
    with pytest.raises(Unreadable, match=r"^too deeply nested$"):
        read(system, opening + closing)


@pytest.mark.parametrize(
    "more", [*(mark * 200_000 for mark in ("<!--", "<", "<a b='", "<a ", "&", "</div>")), f"<p {A}>", f"<{A}", f"</{A}"]
)
def test_broken_html_takes_no_time(more):
    read("hocr", hocr_page(LINE) + more)


def test_pages_of_alto_take_no_time_that_grows_with_their_reading_order():
    order = "<ReadingOrder>" + "<ElementRef REF='b'/>" * 20_000 + "</ReadingOrder>"
    assert len(read("alto", alto(alto_page(strings("Salt")) * 2_000, order))) == 2_000
    nested = "<TextBlock>" * 2_000 + strings("Salt", about="WC='1'") * 2_000 + "</TextBlock>" * 2_000
    assert len(words("alto", alto(f"<Page>{nested}</Page>"))[0]) == 2_000


@pytest.mark.parametrize(
    ("system", "content", "reason"),
    [
        ("alto", alto("<Page><PrintSpace><TextBlock><TextLine/></TextBlock></PrintSpace></Page>"),
         "a layout without text: no `TextLine` has `CONTENT`"),
        ("alto", alto(alto_page("<TextLine><String WC='1'/></TextLine>")), "a layout without text: no `TextLine` has"),
        ("page_xml", page_xml("<TextRegion><TextLine/></TextRegion>"), "a layout without text: no `TextLine` has `Uni"),
        ("page_xml", page_xml(region("a", "<TextLine><TextEquiv conf='1'/></TextLine>")), "a layout without text: no"),
        ("page_xml", page_xml("<TableRegion><TableCell row='x'/></TableRegion>"), "not as expected: a cell of a"),
        ("page_xml", page_xml("<TableRegion><TableCell row='9999' col='0'/></TableRegion>"), "with a table of more"),
        ("alto", alto(alto_page(strings("Salt")))[:-9], r"not readable as XML \(.*: line 1, column"),
        ("alto", "<alto/>", "without pages"),
        ("page_xml", "<!-- PcGts --><a/>", "not PAGE XML: its root is `a`"),
    ],
)  # fmt: skip
def test_a_broken_xml_file_is_refused_with_its_reason(system, content, reason):
    with pytest.raises(Unreadable, match=f"^{reason}"):
        read(system, content)


@pytest.mark.parametrize("stated", ["high", "-1", "nan", "inf", "101", ""])
@pytest.mark.parametrize(
    ("system", "content"),
    [
        ("hocr", hocr(hocr_page("<span class='ocrx_word' title='x_wconf STATED'>Salt</span>"))),
        ("alto", alto(alto_page(strings("Salt", about="WC='STATED'")))),
        ("page_xml", page_xml(region("a", f"<TextLine>{said('Salt', STATED)}</TextLine>"))),
    ],
)
def test_a_confidence_that_is_none_costs_the_words_and_not_the_text(system, content, stated):
    content = content.replace("STATED", stated)
    assert read(system, content) == {0: (text("Salt"),)}
    if system == "hocr" and stated in ("", "-1"):  # none is stated
        assert words(system, content) == {0: ()}
    else:
        with pytest.raises(Unreadable, match=r"^not as expected: a confidence is no number from 0 to "):
            words(system, content)


@pytest.mark.parametrize(
    ("declared", "encoding"),
    [
        ("<?xml version='1.0' encoding='ISO-8859-1'?>", "latin-1"),
        ('<?xml version="1.0" encoding="UTF-16"?>', "utf-16"),
        ("", "utf-16-le"),
        ("", "utf-8-sig"),
        ("<?xml version='1.0' encoding='US-ASCII'?>", "utf-8"),
        ("<?xml version='1.0' encoding='punycode'?>", "utf-8"),
    ],
)
def test_xml_is_read_in_the_encoding_that_it_declares(declared, encoding):
    content = alto(alto_page(strings("café"))).replace("<?xml version='1.0'?>", declared)
    assert read("alto", content.encode(encoding)) == {0: (text("café"),)}


def test_html_is_read_in_the_encoding_that_it_declares():
    content = hocr(
        hocr_page("café"), head="<meta http-equiv='Content-Type' content='text/html; charset=windows-1252'/>"
    )
    assert read("hocr", content.encode("cp1252")) == {0: (text("café"),)}
    with pytest.raises(Unreadable, match=r"^not text in UTF-8$"):
        read("hocr", hocr(hocr_page("café")).encode("cp1252"))


def test_json_is_no_xml():
    for format in FORMATS.values():
        with pytest.raises(ValueError, match=r"^not "):
            format.pages(json.loads("{}"))


@pytest.mark.parametrize(
    ("cells", "table"),
    [
        ([], ""),
        ([Cell(1, 1, "a\nb <c>")], "<table><tr></tr><tr><td></td><td>a b &lt;c&gt;</td></tr></table>"),
        (
            [Cell(0, 0, "a", rows=2), Cell(1, 1, "b"), Cell(0, 1, "c", header=True)],
            '<table><tr><td rowspan="2">a</td><th>c</th></tr><tr><td>b</td></tr></table>',
        ),
    ],
)
def test_a_table_of_cells_has_its_empty_places(cells, table):
    assert html_table(cells) == table
