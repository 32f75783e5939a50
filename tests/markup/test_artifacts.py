"""Artifacts: text of programs and models that the page does not have."""

from itertools import pairwise

import pytest
from hypothesis import given
from hypothesis import strategies as st

from ohr.markup.artifacts import KINDS, artifacts, covered, unfenced, without_artifacts
from ohr.text.loops import loops

LEASE = "# Kelp\n\nKelp grows forty centimetres a day."
PICTURE = "data:image/png;base64," + "iVBORw0KGgo" * 9
TABLE = "| a | b |\n|---|---|\n" + "| 0 | 0 |\n" * 30
FORM = "Name: ______ Date: ______\n" * 3
CONTENTS = "".join(f"{n}. Of the kelp {'. ' * 40}{n * 7}\n" for n in range(9))

REFUSALS = (
    "I'm sorry, but I can't assist with that.",
    "As an AI language model, I cannot view images. Please upload the text.",
    "I apologize, but I am unable to extract the text from the provided document.",
    "Unfortunately, I don't see an image attached.",
    "I'm sorry, but it seems the image you provided is too blurry to read.",
    "Please provide the image so that I can transcribe it.",
    "The image does not contain any readable text.",
    "很抱歉，我无法识别图片中的文字。",
)
HONEST = (
    "Please provide the following documents: birth certificate, two passport pictures. Upload them by 3 May.",
    "I am unable to attend the meeting; see the attached certificate.",
    "I apologize for the delay in your claim. We process it as fast as we can.",
    "I can't help falling in love with you",
    "I cannot see what flowers are at my feet, nor what soft incense hangs upon the boughs",
    "This image is in the public domain. Source: NASA",
    "I don't see the point of this document, and could not view the property on page 3.",
    "I do not recognize the signature on the document.",
    "Please upload the image so that I can see my grandson again.",
    "The document is blanketed in dust",
    "我不能读懂他的文字。",
    "Unfortunately, the error code means that you have no access to the images.",
)
"""Pages' own texts that begin as what models say."""
PREAMBLES = (
    "Here is the transcribed text:",
    "Sure! Here's the OCR:",
    "Certainly! Here is the text from the image:",
    "Below is the page converted to Markdown:",
    "**Here is the transcription:**",
)
INTRODUCTIONS = (
    "The following is the text of the resolution adopted on 3 May:",
    "Below are the tables of revenue:",
    "Certainly excluded from cover are the following risks:",
    "Here is the content of each page:",
    "The following is a transcription of the hearing:",
)
CODE = (
    '```json\n{"bbox": [1, 2, 3, 4], "text": "a"}\n```',
    'a box is `"bbox": [1, 2, 3, 4]`, with "text": "a"',
    "~~~\n<|im_start|>user\nHello<|im_end|>\n~~~\nand so on",
    "it begins with '<|im_start|>user' or `<|im_end|>`",
    "Florence writes `<loc_12>`, others `<box>(12, 40), (300, 77)</box>`",
    "BERT adds <pad>",
    "Data:text/plain,hello",
    "it begins with data:image/png;base64, as all do",
)
"""Marks in texts about them."""
ROWS = {
    "☐ Strongly agree ☐ Agree ☐ Neither agree nor disagree ☐ Disagree\n": 6,
    "kg 0.0 0.0\n": 20,
    "Name: ____________ Date: ____________ Signature: ____________\n": 30,
    "Monday 09:00 to 10:00 Mathematics in room 12, with the whole class\n": 5,
    "And we sail, and we sail, to the quay where the kelp is green.\n": 5,
    "Yes No ": 15,
    "\\_": 300,
    "N/A\n": 140,
    "N/A\tN/A\n": 140,
    "| none | none | to be paid at the quay |\n": 70,
    "to be paid at the quay & nothing & nothing \\\\\n": 61,
}
"""Lines that people repeat, and how often."""
KINDS_OF = {
    "a line again and again": (f"{LEASE}\n" + "The rent is 412.\n" * 12, {"loop": 1}),
    "a word": (f"{LEASE} the" + " the" * 250, {"loop": 1}),
    "a formula": (f"{LEASE} $" + "\\star" * 150 + f"$ {LEASE}", {"loop": 1}),
    "a loop that is little of a page": (CONTENTS + "The rent is 412.\n" * 12, {}),
    **{row: (f"{LEASE}\n" + row * times, {}) for row, times in ROWS.items()},
    "Chinese without spaces": ("海带每天生长四十厘米。" * 12, {"loop": 1}),
    "a loop in the middle": (f"{LEASE}\n" + "It is a quay. " * 30 + LEASE, {"loop": 1}),
    "rows of a table": (TABLE, {}),
    "rows with an end": ("<table>" + "<tr><td>Pay here</td><td></td></tr>" * 200 + "</table>", {}),
    "rows without end": ("<table>" + "<tr><td></td><td></td></tr>" * 200, {"loop": 1}),
    "lines of a form": (FORM, {}),
    "leaders of contents": (CONTENTS, {}),
    "a rule": ("a\n\n---\n\n" + "-" * 200 + "\n\nb", {}),
    "names of a list": ("Ferry & co\n" * 9, {}),
    "a fence": (f"```markdown\n{LEASE}\n```", {"fence": 1}),
    "a fence around a fence": (f"```markdown\n{LEASE}\n\n```python\nx = 1\n```\n\nLast.\n```", {"fence": 1}),
    "code of the page": (f"```\n{LEASE}\n```\nand\n```\nb\n```", {}),
    "a preamble and a fence": (
        f"Here is the extracted text:\n\n```markdown\n{LEASE}\n```\n",
        {"preamble": 1, "fence": 1},
    ),
    "a preamble": (f"Sure! Below is the page:\n{LEASE}", {"preamble": 1}),
    "a preamble in Chinese": (f"以下是提取的文本：\n{LEASE}", {"preamble": 1}),
    "a list of the page": ("Here are the rules of the quay:\n1. Pay.", {}),
    "front matter": (f"---\nprimary_language: en\nis_table: False\n---\n{LEASE}", {"front_matter": 1}),
    "front matter in a fence": (f"```\n---\ntitle: Kelp\n---\n{LEASE}\n```", {"fence": 1, "front_matter": 1}),
    "rules around words": (f"---\nKelp and salt\n---\n{LEASE}", {}),
    "DeepSeek-OCR": (f"<|ref|>title<|/ref|><|det|>[[61, 70, 420, 95]]<|/det|>\n{LEASE}", {"coordinates": 1}),
    "DeepSeek-OCR without tokens": (f"title[[61, 70, 420, 95]]\n{LEASE}", {"coordinates": 1}),
    "Florence": (f"{LEASE}<loc_12><loc_40><loc_300><loc_77>", {"coordinates": 1}),
    "boxes": (f"<box>(12, 40), (300, 77)</box>{LEASE}", {"coordinates": 1}),
    "JSON of a layout": ('[{"bbox": [61, 70, 420, 95], "text": "Kelp"}]', {"coordinates": 1}),
    "HTML of Qwen-VL": (f'<p data-bbox="61 70 420 95">{LEASE}</p>', {"coordinates": 1}),
    "special tokens": (f"<|im_start|>assistant\n{LEASE}<|im_end|>", {"special_tokens": 2}),
    "a picture": (f"![Kelp]({PICTURE})\n{LEASE}", {"image_data": 1}),
    "an HTML picture": (f'<img alt="Kelp" src="{PICTURE}"/>\n{LEASE}', {"image_data": 1}),
    "a picture by reference": (f"![Kelp][p1]\n\n[p1]: <{PICTURE}>\n{LEASE}", {"image_data": 1}),
    "a link that is no picture": ("see [1]: data of 2019, and data: 12", {}),
    "Azure": (f":selected: {LEASE}\n:unselected: no", {"selection_marks": 2}),
    "a refusal": ("I’m sorry, but I can’t extract text from this image.", {"refusal": 1}),
    "another refusal": ("**I cannot read this.**", {"refusal": 1}),
    "nothing to see": ("The image is blank.", {"refusal": 1}),
    "a page that says sorry": (f"I'm sorry, said the ferryman. {LEASE}", {}),
    "a page left blank": ("This page is intentionally left blank.", {}),
    **{said: (said, {"refusal": 1}) for said in REFUSALS},
    **{said: (said, {}) for said in HONEST},
    "a prompt": (f"Just return the plain text representation of this document.\n{LEASE}", {"prompt": 1}),
    "a prompt again": (f"RAW_TEXT_START\n{LEASE}\nFree OCR.\nİ\nRAW_TEXT_START", {"prompt": 3}),
    "error-free": (f"Our scans have error-free OCR. {LEASE}", {}),
    **{line: (f"{line}\n{LEASE}", {"preamble": 1}) for line in PREAMBLES},
    **{line: (f"{line}\n{LEASE}", {}) for line in INTRODUCTIONS},
    **{part: (f"{LEASE}\n{part}", {}) for part in CODE},
    "JSON of a layout in a fence": (
        '```json\n[{"bbox": [61, 70], "text": "Kelp"}]\n```',
        {"fence": 1, "coordinates": 1},
    ),
    "padding": (f"{LEASE}{'<pad>' * 9}", {"special_tokens": 1}),
    "a memo between rules": (f"---\nNote: the quay is closed.\n---\n{LEASE}", {}),
    "nothing": ("", {}),
    "a page": (LEASE, {}),
}


@pytest.mark.parametrize("name", KINDS_OF)
def test_artifacts_are_counted_by_kind(name):
    text, kinds = KINDS_OF[name]
    found = [artifact.kind for artifact in artifacts(text)]
    assert {kind: found.count(kind) for kind in found} == kinds


@pytest.mark.parametrize(
    ("name", "left"),
    [
        ("a line again and again", f"{LEASE}\nThe rent is 412."),
        ("a loop in the middle", f"{LEASE}\nIt is a quay. {LEASE}"),
        ("a preamble and a fence", LEASE),
        ("front matter in a fence", LEASE),
        ("DeepSeek-OCR", LEASE),
        ("boxes", LEASE),
        ("special tokens", LEASE),
        ("a picture", LEASE),
        ("a refusal", ""),
        ("a prompt", LEASE),
        ("code of the page", KINDS_OF["code of the page"][0]),
    ],
)
def test_a_text_without_its_artifacts(name, left):
    assert without_artifacts(KINDS_OF[name][0], KINDS)[0] == left


def test_only_the_kinds_that_are_named_go():
    text, removed = without_artifacts(f"```\n{LEASE} :selected: yes\n```", ["selection_marks"])
    assert (text, [artifact.kind for artifact in removed]) == (f"```\n{LEASE} yes\n```", ["selection_marks"])


def test_what_is_before_a_fence_goes_with_it():
    assert unfenced(f"Here is the extracted text:\n\n~~~\n{LEASE}\n~~~") == f"{LEASE}\n"


@given(st.text(alphabet="ab .\n`-<|>", max_size=60), st.integers(0, 40))
def test_spans_are_inside_the_text_and_a_loop_keeps_its_first_round(text, times):
    looping = text + "the quay " * times
    spans = covered(artifacts(looping))
    assert all(0 <= start < end <= len(looping) for start, end in spans)
    assert all(one[1] < other[0] for one, other in pairwise(spans))
    for loop in loops(looping):
        unit = looping[loop.start : loop.once].split()
        rest = looping[loop.start : loop.end].split()
        assert all(word.startswith(cut) for word, cut in zip(unit * len(rest), rest, strict=False))
