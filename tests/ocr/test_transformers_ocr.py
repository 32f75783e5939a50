"""Document models: the true architectures with random weights, through the code that real weights take."""

import json
from importlib.util import find_spec

import numpy as np
import pytest

from ohr.contracts import Recognition, Resources
from ohr.errors import MissingExtra, OhrError, PluginError
from ohr.keys import identity
from ohr.models.resident import holding, in_memory, resident
from ohr.ocr.document_models import ARCHITECTURES, MODELS, PRESETS, doctag_blocks
from ohr.ocr.transformers_ocr import TransformersOcr
from ohr.testing import check_ocr

from .. import tiny_documents

DRAWS = np.random.default_rng(0)
PAGES = [
    DRAWS.integers(0, 256, (150, 120, 3), dtype=np.uint8),
    np.full((150, 120, 3), 255, np.uint8),
    DRAWS.integers(0, 256, (60, 200, 3), dtype=np.uint8),
]
SLOW = ("got_ocr2", "deepseek_ocr2", "kosmos2_5")
"""Their images have a fixed size."""
INDIFFERENT = (*SLOW, "granite_docling", "qwen2_vl")
"""With random weights, they write the same of any page."""
BUILT = [*tiny_documents.PLAIN, *tiny_documents.VIDEOS]


@pytest.fixture(
    params=[pytest.param(made, marks=[pytest.mark.acceptance] if made.__name__ in SLOW else []) for made in BUILT],
    ids=lambda made: made.__name__,
)
def folder(request, shared, any_torchvision):
    """A model of each architecture."""
    made = request.param
    if made in tiny_documents.VIDEOS:
        request.getfixturevalue("torchvision")
    if made is tiny_documents.nougat:
        pytest.importorskip("Levenshtein")
    return shared(made.__name__, made)


def engine(folder, **how):
    return TransformersOcr(model=str(folder), **{"max_tokens": 10, "dtype": "float32", **how})


def words(page):
    return page.text or "\n".join(block.text for block in page.blocks)


@pytest.mark.filterwarnings("ignore:__array__ implementation doesn't accept a copy:DeprecationWarning")  # torchvision's
def test_each_architecture_reads_pages_in_batches_as_alone(folder):
    made = engine(folder)
    made.check()
    alone = [page for image in PAGES for page in made.recognise([image])]
    assert [page.error for page in alone] == [None] * 3
    assert all(page.tokens_out > 0 for page in alone)
    assert all((page.tokens_in > 0) == (folder.name != "nougat") for page in alone)
    assert all(page.finish != "stop" for page in alone if page.tokens_out == 10)
    assert list(made.recognise(PAGES)) == alone
    if folder.name not in INDIFFERENT:
        assert len({words(page) for page in alone}) > 1


@pytest.fixture
def small(tiny_document_model):
    return tiny_document_model


def test_it_keeps_the_contract(small):
    check_ocr(engine(small), line=PAGES[0])


def test_a_longer_limit_continues_the_same_reply(small):
    short, long = (next(iter(engine(small, max_tokens=count).recognise(PAGES[:1]))) for count in (5, 30))
    assert (short.tokens_out, short.finish == "stop") == (5, False)
    assert words(long).startswith(words(short).rstrip("\N{REPLACEMENT CHARACTER}"))


def test_a_reply_that_ends_is_whole_and_one_that_repeats_itself_is_a_loop(small):
    made = engine(small, max_tokens=40)
    with holding():
        list(made.recognise(PAGES[:1]))
        (key,) = in_memory()
        assert key[0] == "transformers_ocr"
        loaded = resident(key, object)
        ids = loaded.processor.tokenizer
        page = ids.encode("A page.")
        ended = made._reply(loaded, PRESETS["chat"], [*page, ids.eos_token_id, 0, 0])
        loop = made._reply(loaded, PRESETS["chat"], ids.encode("Rent is due." + " in May" * 20))
        cut = made._reply(loaded, PRESETS["chat"], ids.encode("Rent is due in May, in the year after"))
    assert ended == Recognition("A page.", tokens_out=len(page))
    assert (loop.finish, cut.finish) == ("repeat", "length")
    assert loop.text.endswith("in May in May")


def test_two_settings_that_load_one_model_share_it(small):
    with holding():
        list(engine(small, prompt="OCR:").recognise(PAGES[:1]))
        list(engine(small, max_tokens=3).recognise(PAGES[:1]))
        assert len(in_memory()) == 1
    assert in_memory() == ()


def test_one_model_is_open_on_a_device():
    assert TransformersOcr(device="cuda:1").resources() == Resources(gpus=1, alone=True)


def test_a_batch_that_does_not_fit_is_halved_and_a_page_that_does_not_fit_fails_alone(small, monkeypatch, caplog):
    made, sizes = engine(small), []
    read = TransformersOcr._read

    def limited(self, loaded, pages):
        sizes.append(len(pages))
        if len(pages) > 1:
            raise RuntimeError("CUDA out of memory. Tried to allocate 20 GiB")
        return read(self, loaded, pages)

    alone = [page for image in PAGES for page in made.recognise([image])]
    monkeypatch.setattr(TransformersOcr, "_read", limited)
    assert list(made.recognise(PAGES)) == alone
    assert sizes == [3, 1, 1, 1]
    assert caplog.messages == ["out of memory with a batch of 3: continuing with 1"]


def test_a_page_that_the_model_cannot_take_fails_alone(small, monkeypatch):
    read = TransformersOcr._read

    def picky(self, loaded, pages):
        if any(page.size == (200, 60) for page in pages):
            raise ValueError("absolute aspect ratio must be smaller")
        return read(self, loaded, pages)

    monkeypatch.setattr(TransformersOcr, "_read", picky)
    first, second, third = engine(small).recognise(PAGES)
    assert (first.error, second.error) == (None, None)
    assert third.error == "ValueError: absolute aspect ratio must be smaller"


def test_fewer_pixels_are_fewer_tokens(shared, any_torchvision):
    model = shared("paddleocr_vl", tiny_documents.paddleocr_vl)
    full, small = (
        next(iter(engine(model, max_pixels=pixels).recognise([PAGES[0]]))).tokens_in for pixels in (None, 56 * 56)
    )
    assert small < full


# --- prompts and identity ------------------------------------------------------------------------------------------


def test_a_prompt_is_a_name_a_file_or_words(small, tmp_path):
    (tmp_path / "mine.yaml").write_text("text: Read this.\n")
    asked = [engine(small, prompt=p).asked() for p in (None, "ohrbench", tmp_path / "mine.yaml", "OCR:", "")]
    assert asked[0] == "Convert this page to docling."
    assert "LaTeX" in asked[1]
    assert asked[2:] == ["Read this.", "OCR:", ""]
    with pytest.raises(OhrError, match="no prompt for reading pages 'ohrbnch'"):
        engine(small, prompt="ohrbnch").check()


def test_what_decides_the_results_is_in_the_key(small, tmp_path):
    prompt = tmp_path / "mine.yaml"
    prompt.write_text("text: Read this.\n")
    first = identity(engine(small, prompt=prompt))
    assert first == identity(engine(small, prompt="Read this.", batch_size=4))
    assert first == identity(engine(_copied(small, tmp_path / "copy"), prompt="Read this."))
    prompt.write_text("text: Read that.\n")
    assert first != identity(engine(small, prompt=prompt))
    assert identity(engine(small)) != identity(engine(small, max_pixels=1000))


def _copied(model, folder):
    folder.mkdir()
    for file in model.iterdir():
        (folder / file.name).write_bytes(file.read_bytes())
    return folder


def test_got_has_two_prompts_and_nougat_none(tmp_path):
    for name, kind in (("got", "got_ocr2"), ("nougat", "vision-encoder-decoder")):
        (tmp_path / name).mkdir()
        (tmp_path / name / "config.json").write_text(json.dumps({"model_type": kind}))
    assert engine(tmp_path / "got").asked() == "OCR with format:"
    assert engine(tmp_path / "got", prompt="OCR:").asked() == "OCR:"
    with pytest.raises(PluginError, match=r"^ocr transformers_ocr: GOT has two prompts: 'OCR:' and 'OCR with format:'"):
        engine(tmp_path / "got", prompt="ohrbench").check()
    with pytest.raises(PluginError, match=r"^ocr transformers_ocr: Nougat takes no prompt"):
        engine(tmp_path / "nougat", prompt="ohrbench").asked()


def test_olmocr_is_asked_for_what_it_was_trained_on(monkeypatch):
    monkeypatch.setattr("ohr.ocr.transformers_ocr.model_type", lambda *_: "qwen2_5_vl")
    assert "is_rotation_valid" in TransformersOcr(model="olmocr2").asked()
    assert "is_rotation_valid" in TransformersOcr(model=str(MODELS.names["olmocr2"])).asked()
    assert "LaTeX tables" in TransformersOcr(model="qwen2.5-vl-7b").asked()


# --- what is missing ------------------------------------------------------------------------------------------------


@pytest.mark.parametrize(
    ("model", "message"),
    [
        ("./nowhere", r"^ocr transformers_ocr: no such model: \./nowhere"),
        ("gotocr2", r"^ocr transformers_ocr: no model 'gotocr2'\. .*got-ocr2"),
        ("got-ocr2", r"^ocr transformers_ocr: stepfun-ai/GOT-OCR-2\.0-hf "),
    ],
)
def test_a_missing_model_is_reported_before_any_work(model, message):
    with pytest.raises(PluginError, match=message):
        TransformersOcr(model=model).check()


def test_code_that_comes_with_a_model_is_not_run(tmp_path):
    (tmp_path / "config.json").write_text(json.dumps({"model_type": "dots_ocr", "auto_map": {"AutoConfig": "x.Y"}}))
    with pytest.raises(PluginError, match=r"transformers has no architecture 'dots_ocr', and code that comes with"):
        engine(tmp_path).check()


def test_a_missing_part_is_reported_before_any_work(tmp_path, monkeypatch):
    hidden = ("torchvision", "Levenshtein")
    monkeypatch.setattr("ohr.extras.find_spec", lambda name: None if name in hidden else find_spec(name))
    for kind, message in (
        ("qwen2_5_vl", "torchvision is not installed, and the processor of qwen2_5_vl needs it: pip install"),
        ("vision-encoder-decoder", r"Levenshtein is not installed: pip install 'ohr\[nougat\]'"),
    ):
        (tmp_path / "config.json").write_text(json.dumps({"model_type": kind}))
        with pytest.raises(MissingExtra, match=message):
            engine(tmp_path).check()


def test_the_architectures_exist_in_transformers_and_those_with_videos_need_torchvision():
    from transformers.models.auto.configuration_auto import CONFIG_MAPPING_NAMES
    from transformers.models.auto.video_processing_auto import VIDEO_PROCESSOR_MAPPING_NAMES

    assert set(ARCHITECTURES) <= set(CONFIG_MAPPING_NAMES)
    with_videos = {name for name, one in ARCHITECTURES.items() if one.videos}
    # GLM-OCR's processor is that of another model
    assert with_videos == (set(ARCHITECTURES) & set(VIDEO_PROCESSOR_MAPPING_NAMES)) | {"glm_ocr"}
    assert {one.preset for one in ARCHITECTURES.values()} == set(PRESETS)


# --- replies --------------------------------------------------------------------------------------------------------


def test_olmocrs_front_matter_is_no_text_of_the_page():
    front = "---\nprimary_language: en\nis_rotation_valid: True\nrotation_correction: 0\nis_table: False\n---\n"
    assert PRESETS["chat"].read(None, front + "# Title\n\n---\n\nText") == Recognition("# Title\n\n---\n\nText")
    assert PRESETS["chat"].read(None, "---\n\nText after a rule") == Recognition("---\n\nText after a rule")


class Nougat:
    """The processor's own post-processing of a tiny tokenizer."""

    @staticmethod
    def tokenizer():
        pytest.importorskip("Levenshtein")
        from transformers import NougatTokenizer

        return NougatTokenizer()


@pytest.mark.parametrize(
    ("reply", "text", "error"),
    [
        ("[MISSING_PAGE_EMPTY:3]", "", "the model reports a missing page: [MISSING_PAGE_EMPTY:3]"),
        ("[MISSING_PAGE_FAIL:1]\n", "", "the model reports a missing page: [MISSING_PAGE_FAIL:1]"),
        ("Rent is due in May.\n\n[MISSING_PAGE_POST]", "Rent is due in May.", None),
        ("", "", None),
    ],
)
def test_nougats_missing_pages_have_failed(reply, text, error):
    assert PRESETS["nougat"].read(Nougat.tokenizer(), reply) == Recognition(text, error)


DOCTAGS = (
    "<doctag><page_header><loc_1><loc_2><loc_3><loc_4>Annals</page_header>\n<title>Report</title>\n"
    "<section_header_level_1><loc_5><loc_6><loc_7><loc_8>Results</section_header_level_1>\n<text>Rent is due.</text>\n"
    "<unordered_list><list_item>one</list_item>\n<list_item>two</list_item></unordered_list>\n"
    "<otsl><caption>Prices</caption><ched>Name<ched>2020<lcel><nl><fcel>Oak & ash<fcel>1<fcel>2<nl>"
    "<ucel><fcel>3<ecel><nl></otsl>\n<formula>a^2</formula>\n<picture><loc_1><caption>A chart</caption></picture>\n"
    "<page_footer>7</page_footer></doctag>"
)


def test_doctags_become_blocks():
    found = doctag_blocks(DOCTAGS)
    assert [block.kind for block in found] == [
        "header", "heading", "heading", "text", "list", "list", "caption", "table", "formula", "caption", "footer",
    ]  # fmt: skip
    assert [(block.text, block.level) for block in found[:3]] == [("Annals", 0), ("Report", 1), ("Results", 2)]
    assert found[7].text == (
        '<table>\n<tr><th>Name</th><th colspan="2">2020</th></tr>\n'
        '<tr><td rowspan="2">Oak &amp; ash</td><td>1</td><td>2</td></tr>\n<tr><td>3</td><td></td></tr>\n</table>'
    )
    latex = TransformersOcr(markup="ohrbench").written(Recognition(blocks=found))
    assert "\\begin{tabular}" in latex and "# Report\n\n## Results\n\nRent is due." in latex
    assert "Annals" not in latex


@pytest.mark.parametrize(
    ("reply", "texts"),
    [
        ("", []),
        ("No tags at all", ["No tags at all"]),
        ("<doctag><text>One</text><text>Two that was c", ["One", "Two that was c"]),
        ("<text>One<text>Two</text>", ["One", "Two"]),
        ("<otsl></otsl>", []),
    ],
)
def test_doctags_that_are_cut_or_broken_are_kept(reply, texts):
    assert [block.text for block in doctag_blocks(reply)] == texts
