"""`ohr noise apply`: noisy files that equal what a run makes."""

import json

import numpy as np
import pytest
from PIL import Image

from ohr.contracts import Edit
from ohr.dataset.inputs import read_inputs
from ohr.files import images, ohrbench_json, pdf
from ohr.graph.cache_keys import Keys
from ohr.registry import Registry
from ohr.runner.run import run
from ohr.spec.read import read_spec
from ohr.store import open_store
from ohr.text import edits

pytestmark = pytest.mark.usefixtures("one_process")

MINI = Registry().load("benchmark", "mini").model_validate({"kind": "mini"})
TEXT = "The harbour company leased the ferry berth for ninety years. It paid well. All were content with that.\r\n" * 9


@pytest.fixture
def pages(home):
    """The law documents of mini in OHRBench's layout."""
    folder = home / "in" / "law"
    folder.mkdir(parents=True)
    for document in [d for d in MINI.documents() if d.domain == "law" and d.language == "en"]:
        entries = [{"page_idx": p.index, "text": p.text, "engine": "x"} for p in MINI.pages(document)]
        (home / "in" / f"{document.name}.json").write_text(json.dumps(entries))
    return home / "in"


def ledger(folder):
    return [json.loads(line) for line in (folder / "edits.jsonl").read_text().splitlines()]


def test_pages_get_the_noise_that_a_run_gives_them(ohr, home, pages):
    done = ohr("noise", "apply", pages, "out", "--noise", "{kind: formatting, rate: 0.3}", "--workers", 1, "--seed", 3)
    assert done.exit_code == 0, done.output
    spec = read_spec(home / "small.yaml", ["knowledge_bases.1.text_noise.rate=0.3", "seed=3", "evaluate=[retrieval]"])
    run(spec, store=home / "store", runs=home / "runs", workers=1)
    keys, compared = Keys(spec, read_inputs(spec)), 0
    for document in keys.inputs.documents:
        made = open_store(home / "store").get(keys.document(spec.knowledge_bases[1], document, ()))["pages"][0]
        assert (
            ohrbench_json.read_pages(home / "out", document.name)[0].text
            == made["text"]
            != keys.inputs.truth[document.name]
        )
        compared += 1
    assert compared
    assert json.loads((home / "out" / f"{document.name}.json").read_text())[0]["engine"] == "x"


def test_the_ledger_takes_everything_back(ohr, home, pages):
    chain = "[{kind: formatting, rate: 0.3}, {kind: formatting, rate: 0.2}]"
    assert ohr("noise", "apply", pages, "out", "--noise", chain, "--workers", 1).exit_code == 0
    records = ledger(home / "out")
    for path in pages.rglob("*.json"):
        name = path.relative_to(pages).with_suffix("").as_posix()
        for clean, noisy in zip(
            ohrbench_json.read_pages(pages, name), ohrbench_json.read_pages(home / "out", name), strict=True
        ):
            text = noisy.text
            for step in (1, 0):
                mine = [r for r in records if (r["document"], r["page"], r["step"]) == (name, clean.index, step)]
                text = edits.undo(text, [Edit(r["rule"], r["start"], r["end"], r["text"], r["removed"]) for r in mine])
            assert text == clean.text
    assert {record["step"] for record in records} == {0, 1}


def test_text_files_keep_their_bytes_where_nothing_was_edited(ohr, home):
    (home / "in" / "deep").mkdir(parents=True)
    (home / "in" / "deep" / "a.md").write_bytes(TEXT.encode())
    (home / "in" / "b.txt").write_bytes("ä\r\n".encode())
    (home / "in" / "c.csv").write_text("1,2")
    done = ohr("noise", "apply", "in", "out", "--noise", "{kind: formatting, rate: 0}", "--workers", 1, "--json")
    report = json.loads(done.stdout)
    assert (report["files"], report["edits"], report["left_alone"]) == (2, 0, ["c.csv"])
    assert (home / "out" / "deep" / "a.md").read_bytes() == TEXT.encode()
    assert (home / "out" / "b.txt").read_bytes() == "ä\r\n".encode()


def test_files_that_differ_in_their_suffix_only_are_documents_of_their_own(ohr, home):
    (home / "in" / "deep").mkdir(parents=True)
    for name in ("deep/a.md", "deep/a.txt", "b.md"):
        (home / "in" / name).write_text(TEXT)
    done = ohr("noise", "apply", "in", "out", "--noise", "{kind: formatting, rate: 0.5}", "--workers", 1)
    assert done.exit_code == 0, done.output
    assert {record["document"] for record in ledger(home / "out")} == {"deep/a.md", "deep/a.txt", "b"}
    assert (home / "out" / "deep" / "a.md").read_bytes() != (home / "out" / "deep" / "a.txt").read_bytes()


@pytest.mark.parametrize(
    ("name", "content"),
    [
        ("asked.csv", "question,document\nWhen?,note\n"),
        ("asked.jsonl", "{}\n"),
        ("asked.json", '[{"question": "When?"}]'),
    ],
)
def test_questions_of_another_form_are_refused_and_the_form_is_reported(ohr, home, name, content):
    (home / "note.md").write_text(TEXT)
    (home / name).write_text(content)
    noise = "{kind: formatting, where: evidence}"
    done = ohr("noise", "apply", "note.md", "out", "--noise", noise, "--questions", name)
    assert done.exit_code == 2
    assert name in done.stderr and "ID, doc_name, questions, answers, evidence_source" in done.stderr


def test_two_workers_give_the_same_files(ohr, home, pages):
    every = ", ".join(f"{{kind: {kind}, rate: 0.5}}" for kind in Registry().names("text_noise"))
    for workers in (1, 2):
        assert not ohr(
            "noise", "apply", pages, f"out{workers}", "--noise", f"[{every}]", "--workers", workers
        ).exit_code
    one, two = ({p.name: p.read_bytes() for p in (home / f"out{n}").rglob("*") if p.is_file()} for n in (1, 2))
    assert one == two and len(one) > 3


def test_noise_can_be_placed_by_a_question_file(ohr, home, pages):
    asked = [q for q in MINI.questions() if q.domain == "law"]
    (home / "qas.json").write_text(
        json.dumps(
            [
                {
                    "ID": q.id,
                    "questions": q.text,
                    "answers": q.answers[0],
                    "doc_name": q.document,
                    "evidence_page_no": list(q.pages),
                    "evidence_context": list(q.evidence),
                    "evidence_source": q.evidence_source,
                }
                for q in asked
            ]
        )
    )
    noise = "{kind: formatting, rate: 0.05, where: evidence}"
    refused = ohr("noise", "apply", pages, "out", "--noise", noise)
    assert refused.exit_code == 2 and "--questions" in refused.stderr
    done = ohr("noise", "apply", pages, "out", "--noise", noise, "--questions", "qas.json", "--workers", 1, "--json")
    found = json.loads(done.stdout)
    assert abs(found["edits"] - found["aimed"]) <= len(list(pages.rglob("*.json")))
    assert found["unasked"] == 0


def test_questions_about_no_file_are_counted(ohr, home):
    (home / "note.md").write_text(TEXT)
    asked = {"ID": "a", "questions": "?", "answers": "x", "evidence_source": "text", "evidence_page_no": 0}
    asked = [asked | {"doc_name": name, "evidence_context": "It paid well."} for name in ("note", "nota")]
    (home / "qas.json").write_text(json.dumps([asked[0], asked[1] | {"ID": "b"}]))
    noise = "{kind: formatting, rate: 0.05, where: evidence}"
    done = ohr("noise", "apply", "note.md", "out", "--noise", noise, "--questions", "qas.json", "--workers", 1)
    assert "about no file of note.md: 1 of 2 questions\n" in done.stdout


def test_a_pdf_comes_back_with_the_pixels_of_a_run(ohr, home):
    (home / "in" / "law").mkdir(parents=True)
    document = next(d for d in MINI.documents() if d.domain == "law" and d.pages > 1)
    source = MINI.pdf(document)
    (home / "in" / f"{document.name}.pdf").write_bytes(source.read_bytes())
    done = ohr("noise", "apply", "in", "out", "--noise", "{kind: salt_and_pepper}", "--dpi", 100, "--workers", 1)
    assert done.exit_code == 0, done.output
    from ohr import seeds

    noise = Registry().load("image_noise", "salt_and_pepper").model_validate({"kind": "salt_and_pepper"})
    for index in range(document.pages):
        rng = seeds.generator(0, "salt_and_pepper", document.name, index, 0)
        wanted = noise.perturb(pdf.render(source, index, 100), (), rng).image
        assert np.array_equal(pdf.render(home / "out" / f"{document.name}.pdf", index, 100), wanted)
    assert [record["label_effect"] for record in ledger(home / "out")] == ["none"] * document.pages


def test_images_of_all_sorts_are_taken(ohr, home):
    (home / "in").mkdir()
    grey = np.tile(np.arange(200, dtype=np.uint8), (150, 1))
    Image.fromarray(grey).save(home / "in" / "grey.png")
    Image.fromarray(grey.astype(np.uint16) * 257).save(home / "in" / "deep.png")
    Image.fromarray(np.dstack([grey] * 3 + [np.zeros_like(grey)])).save(home / "in" / "clear.png")
    Image.new("RGB", (1, 1)).save(home / "in" / "dot.bmp")
    noise = "{kind: rotation, severity: 0}"
    assert ohr("noise", "apply", "in", "out", "--noise", noise, "--workers", 1).exit_code == 0
    for name in ("grey.png", "deep.png"):
        assert np.array_equal(images.read_image(home / "out" / name)[:, :, 1], grey)
    assert images.read_image(home / "out" / "clear.png").min() == 255
    assert images.read_image(home / "out" / "dot.bmp").shape == (1, 1, 3)


def test_a_broken_file_is_reported_and_the_others_are_done(ohr, home):
    (home / "in").mkdir()
    Image.new("RGB", (9, 9)).save(home / "in" / "a.png")
    (home / "in" / "b.png").write_bytes(b"no picture")
    (home / "in" / "c.pdf").write_bytes(b"no pdf")
    done = ohr("noise", "apply", "in", "out", "--noise", "{kind: salt_and_pepper}", "--workers", 1)
    assert done.exit_code == 1
    assert "failed: 2 files" in done.stdout and "c.pdf" in done.stdout
    assert (home / "out" / "a.png").is_file()


@pytest.mark.parametrize(
    ("noise", "message"),
    [
        ("{kind: formating}", "Did you mean 'formatting'?"),
        ("{kind: formatting, rate: 2}", "rate: must be less than or equal to 1 (got 2)"),
        ("{kind: formatting, rate: [0.1, 0.2]}", "one level at a time: give rate one value"),
        ("{kind: formatting, target_r_noise: 0.2}", "a target is found for a spec"),
        ("formatting", "must be a mapping with a `kind`"),
        ("{kind: [}", "not valid YAML"),
        ("[]", "must be a mapping with a `kind`"),
        ("missing.yaml", "no such file"),
        ("{kind: rotation}", "nothing that image noise can be applied to"),
    ],
)
def test_a_mistake_is_one_sentence(ohr, home, pages, noise, message):
    done = ohr("noise", "apply", pages, "out", "--noise", noise, "--workers", 1)
    assert done.exit_code == 2
    assert message in done.stderr
    assert not (home / "out").exists()


def test_two_noises_are_a_chain_or_none(ohr, home, pages):
    twice = ("--noise", "{kind: formatting}", "--noise", "{kind: channel}")
    done = ohr("noise", "apply", pages, "out", *twice)
    assert done.exit_code == 2 and "write a chain as one list" in done.stderr
    assert not (home / "out").exists()


def test_placed_noise_needs_a_question_about_one_of_the_files(ohr, home):
    (home / "in").mkdir()
    (home / "in" / "lease.txt").write_text(TEXT)
    asked = {"ID": "1", "doc_name": "lease.txt", "questions": "Who?", "answers": "All", "evidence_source": "text"}
    asked |= {"evidence_page_no": 0, "evidence_context": "All were content with that."}
    (home / "qas.json").write_text(json.dumps([asked]))
    words = ("noise", "apply", "in", "out", "--noise", "{kind: formatting, rate: 0.5, where: evidence}")
    done = ohr(*words, "--questions", "qas.json")
    assert done.exit_code == 2
    assert "none of 1 question is about a file of it: its documents are lease, and not lease.txt" in done.stderr
    assert not (home / "out").exists()


def test_a_mark_of_byte_order_stays_where_it_was(ohr, home):
    (home / "lease.txt").write_text(TEXT, encoding="utf-8-sig")
    assert ohr("noise", "apply", "lease.txt", "out", "--noise", "{kind: formatting, rate: 1}").exit_code == 0
    made = (home / "out" / "lease.txt").read_text(encoding="utf-8")
    assert made[0] == "\ufeff" and "\ufeff" not in made[1:] and made[1:] != TEXT


def test_noise_can_be_applied_to_noisy_text(ohr, home):
    (home / "in").mkdir()
    (home / "in" / "lease.txt").write_text(TEXT)
    noise = ("--noise", "{kind: formatting, rate: 0.5}", "--workers", 1, "--json")
    assert ohr("noise", "apply", "in", "out", *noise).exit_code == 0
    done = ohr("noise", "apply", "out", "twice", *noise)
    assert done.exit_code == 0, done.output
    assert json.loads(done.stdout)["left_alone"] == ["edits.jsonl", "noise.json"]
    assert json.loads(ohr("noise", "stats", "twice", "--gt", "out", "--json").stdout)[0]["pages"] == 1


def test_hidden_files_are_no_documents(ohr, home):
    (home / "in" / ".checkpoints").mkdir(parents=True)
    for name in ("lease.txt", ".lease.txt", ".checkpoints/lease.txt"):
        (home / "in" / name).write_bytes(TEXT.encode() if name == "lease.txt" else b"\xff")
    done = ohr("noise", "apply", "in", "out", "--noise", "{kind: formatting}", "--workers", 1, "--json")
    assert done.exit_code == 0, done.output
    assert json.loads(done.stdout)["files"] == 1 and json.loads(done.stdout)["left_alone"] == []


def test_a_suffix_in_capitals_is_the_same_suffix(ohr, home):
    (home / "LEASE.JSON").write_text(json.dumps([{"page_idx": 0, "text": TEXT}]))
    done = ohr("noise", "apply", "LEASE.JSON", "out", "--noise", "{kind: formatting, rate: 1}", "--json")
    assert json.loads(done.stdout)["pages"] == 1
    assert json.loads((home / "out" / "LEASE.JSON").read_text())[0]["text"] != TEXT


def test_it_writes_over_nothing(ohr, home, pages):
    (home / "out").mkdir()
    (home / "out" / "mine.txt").write_text("x")
    noise = ("--noise", "{kind: formatting}")
    assert "out: is a folder that has files already" in ohr("noise", "apply", pages, "out", *noise).stderr
    assert "is inside" in ohr("noise", "apply", pages, pages / "sub", *noise).stderr


def test_noise_can_be_written_in_a_file_as_in_a_spec(ohr, home, pages):
    (home / "noise.yaml").write_text("text_noise:\n  - {kind: formatting, rate: 0.2}\n  - {kind: formating}\n")
    done = ohr("noise", "apply", pages, "out", "--noise", "noise.yaml")
    assert "noise.yaml:3: text_noise.1.kind" in done.stderr


def test_all_pages_of_a_tiff_get_noise(ohr, home):
    sheets = [np.full((40, 30, 3), tone, dtype=np.uint8) for tone in (60, 120, 180)]
    images.write_image(home / "in.tif", *sheets)
    assert ohr("noise", "apply", "in.tif", "out", "--noise", "{kind: salt_and_pepper}", "--workers", 1).exit_code == 0
    assert images.pages(home / "out" / "in.tif") == 3
    made = [images.read_image(home / "out" / "in.tif", index) for index in range(3)]
    assert [np.median(page) for page in made] == [60, 120, 180]
    assert [record["page"] for record in ledger(home / "out")] == [0, 1, 2]
    assert len({(page != np.median(page)).tobytes() for page in made}) == 3


def test_a_page_that_cannot_be_read_is_blank_and_the_others_keep_their_numbers(ohr, home):
    from ohr.noise_files.apply import FileTask, lay

    def object_(number, content):
        return f"{number} 0 obj\n{content}\nendobj\n".encode()

    box = "/Type /Page /Parent 2 0 R /MediaBox [0 0 40 30]"
    objects = {1: "<< /Type /Catalog /Pages 2 0 R >>", 2: "<< /Type /Pages /Kids [3 0 R 9 0 R 4 0 R] /Count 3 >>"}
    body, table = b"%PDF-1.4\n", "0000000000 65535 f \n"
    for number, content in (objects | {3: f"<< {box} >>", 4: f"<< {box} >>"}).items():
        table += f"{len(body):010} 00000 n \n"
        body += object_(number, content)
    end = f"trailer\n<< /Size 5 /Root 1 0 R >>\nstartxref\n{len(body)}\n%%EOF\n"
    (home / "log.pdf").write_bytes(body + f"xref\n0 5\n{table}{end}".encode())
    noise = Registry().load("image_noise", "rotation").model_validate({"kind": "rotation"})
    done = lay(FileTask(home / "log.pdf", home / "noisy.pdf", "log", [noise], (), 0, 72))
    assert done["pages"] == 2 and "page 2 does not render" in done["blank"][0]
    assert pdf.page_count(home / "noisy.pdf") == 3
