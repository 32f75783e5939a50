"""`ohr score hits`, `ohr compare` of TREC files, and the JUnit XML of both kinds of comparison."""

import csv
import json
import random
from xml.etree import ElementTree

import pytest

SKILLS = {"bm25": 0.5, "dense": 0.9, "weak": -0.4}


@pytest.fixture
def files(home):
    """Three runs of 40 topics, their qrels, and a map of two topics to a document."""
    for name, skill in SKILLS.items():
        rng = random.Random(name)
        lines = [
            f"q{topic} Q0 {document} 1 {rng.random() + skill * document.startswith('r'):.4f} {name}"
            for topic in range(40)
            for document in (f"r{topic}", "a", "b", "c", "d")
        ]
        (home / f"{name}.trec").write_text("\n".join(lines) + "\n")
    (home / "qrels.txt").write_text("".join(f"q{topic} 0 r{topic} 1\n" for topic in range(40)))
    (home / "map.tsv").write_text("".join(f"q{topic}\td{topic // 2}\n" for topic in range(40)))
    return home


TWO = ("compare", "bm25.trec", "weak.trec", "--qrels", "qrels.txt")


def suite(content):
    root = ElementTree.fromstring(content)
    assert root.tag == "testsuites"
    (only,) = root
    cases = only.findall("testcase")
    for element in (root, only):
        assert int(element.attrib["tests"]) == len(cases)
        assert int(element.attrib["failures"]) == len(only.findall("testcase/failure"))
        assert int(element.attrib["errors"]) == len(only.findall("testcase/error"))
        assert float(element.attrib["time"]) >= 0
    assert int(only.attrib["skipped"]) == len(only.findall("testcase/skipped"))
    assert [child.tag for child in only] == ["properties", *["testcase"] * len(cases), "system-out"]
    for case in cases:
        assert {"classname", "name", "time"} == set(case.attrib)
        assert {child.tag for child in case} <= {"failure", "error", "skipped", "system-out"}
        assert all(child.attrib["message"] for child in case if child.tag != "system-out")
    return only


def test_runs_are_scored_and_compared_with_the_first(files, ohr):
    result = ohr("score", "hits", "bm25.trec", "dense.trec", "weak.trec", "--qrels", "qrels.txt")
    assert result.exit_code == 0, result.stderr
    lines = result.stdout.splitlines()
    assert lines[:2] == ["3 runs, 40 topics, each by itself", "notes:"]
    assert lines[2].endswith("intervals are too short and p too small; --clusters FILE says which are")
    assert "with fewer documents for each topic than the largest cutoff (100) counts: bm25.trec (" in lines[3]
    assert [line.split()[0] for line in lines[4:8]] == ["run", "bm25.trec", "dense.trec", "weak.trec"]
    assert "weak.trec nDCG@10" in result.stdout
    assert "B scores less in " in result.stdout
    found = json.loads(ohr("score", "hits", "bm25.trec", "weak.trec", "--qrels", "qrels.txt", "--json").stdout)
    assert [run["run"] for run in found["runs"]] == ["bm25.trec", "weak.trec"]
    first, second = (run["scores"]["RR"]["mean"] for run in found["runs"])
    pair = found["comparison"]["pairs"][2]
    assert (pair["metric"], pair["verdict"]) == ("RR", "worse")
    assert pair["lost"] == pytest.approx(first - second)
    assert f"{100 * first:.2f}" in lines[5]


def test_one_run_has_means_only_and_scores_per_topic(files, ohr):
    words = ("score", "hits", "dense.trec", "--qrels", "qrels.txt", "--measure", "RR", "--per-topic", "out.csv")
    result = ohr(*words, "--clusters", "map.tsv")
    assert result.exit_code == 0, result.stderr
    assert result.stdout.startswith("1 run, 40 questions in 20 documents")
    assert "B is" not in result.stdout
    rows = list(csv.DictReader((files / "out.csv").read_text().splitlines()))
    assert (list(rows[0]), len(rows)) == (["run", "topic", "missing", "RR"], 40)
    mean = sum(float(row["RR"]) for row in rows) / 40
    assert f"{100 * mean:.2f}" in result.stdout
    (files / "out.csv").write_text("mine")
    refused = ohr(*words)
    assert (refused.exit_code, "add --force" in refused.stderr) == (2, True)


def test_compare_takes_several_measures_and_says_where_documents_are_few(files, ohr):
    result = ohr(*TWO, "--clusters", "map.tsv", "--measure", "RR", "--metric", "nDCG@10", "--json")
    assert [pair["metric"] for pair in json.loads(result.stdout)["pairs"]] == ["RR", "nDCG@10"]
    (files / "few.tsv").write_text("".join(f"q{topic}\td{min(topic, 5)}\n" for topic in range(40)))
    printed = ohr(*TWO, "--clusters", "few.tsv", "--metric", "RR").stdout
    assert "few documents (RR): read intervals with care" in printed


def test_topics_of_one_document_make_a_difference_open_and_those_by_themselves_are_warned_of(home, ohr):
    topics = [f"q{topic}" for topic in range(60)]
    lost = {f"q{topic}" for topic in (0, 1, 2, 3, 5, 6, 7)}  # of two documents
    for name, worse in (("a.trec", set()), ("b.trec", lost)):
        lines = [f"{topic} Q0 {'x' if topic in worse else f'd{int(topic[1:]) // 5}#2'} 1 1 t\n" for topic in topics]
        (home / name).write_text("".join(lines))
    (home / "qrels.txt").write_text("".join(f"{topic} 0 d{int(topic[1:]) // 5}#2 1\n" for topic in topics))
    (home / "alone.tsv").write_text("".join(f"{topic}\t{topic}\n" for topic in topics))
    words = ("compare", "a.trec", "b.trec", "--qrels", "qrels.txt", "--metric", "RR", "--json")
    shared, alone = (json.loads(ohr(*words, *more).stdout) for more in ((), ("--clusters", "alone.tsv")))
    assert (shared["documents"], shared["pairs"][0]["verdict"]) == (12, "open")
    assert (alone["documents"], alone["pairs"][0]["verdict"]) == (60, "worse")
    assert shared["notes"][0].startswith("topics that share a relevant document count as questions about one document")


def test_few_topics_give_no_interval_and_no_verdict(files, ohr):
    (files / "few.txt").write_text("".join(f"q{topic} 0 r{topic} 1\n" for topic in range(4)))
    result = ohr("score", "hits", "bm25.trec", "weak.trec", "--qrels", "few.txt", "--measure", "RR")
    assert result.exit_code == 0
    assert "Fewer than 5 topics give no interval." in " ".join(result.stdout.split())
    assert 'That is not "no effect": 4 topics give no interval.' in result.stdout
    assert "no interval" in result.stdout.splitlines()[-4]


def test_compare_judges_files_by_rules(files, ohr):
    result = ohr(*TWO, "--clusters", "map.tsv", "--metric", "RR", "--fail-if", "low > 0.02", "--json")
    assert result.exit_code == 1
    found = json.loads(result.stdout)
    assert found["met"] == ["low > 0.02: RR"]
    assert (found["questions"], found["documents"], found["margin"]) == (40, 20, 0.02)
    assert ohr(*TWO, "--metric", "RR", "--fail-if", "high < 0").exit_code == 0


@pytest.mark.parametrize(
    ("words", "message"),
    [
        (("compare", "bm25.trec", "weak.trec"), "name the judgments of these runs with --qrels FILE"),
        (("compare", "bm25.trec", "no.trec", "--qrels", "qrels.txt"), "no.trec: there is no such file"),
        (("compare", "bm25.trec", "qrels.txt", "--qrels", "qrels.txt"), "It looks like a file of qrels"),
        ((*TWO, "--group", "text"), "leave out --group"),
        ((*TWO, "--metric", "mrr@x"), "measure 'mrr@x'"),
        ((*TWO, "--json", "--junit", "-"), "only one of --json and --junit - can be printed"),
        (("score", "hits", "qrels.txt", "--qrels", "bm25.trec"), "It looks like a run"),
        (("score", "hits", "bm25.trec", "--qrels", "qrels.txt", "--measure", "ndcg@10"), "did you mean nDCG@10?"),
    ],
)
def test_mistakes_are_explained(files, ohr, words, message):
    result = ohr(*words)
    assert result.exit_code == 2
    assert message in " ".join(result.stderr.split()).replace("│ ", "")


def test_a_run_of_ohr_beside_a_file_names_the_export(ohr, there, tmp_path):
    (tmp_path / "x.trec").write_text("q Q0 d 1 1 t\n")
    for sides in (("small", tmp_path / "x.trec"), (tmp_path / "x.trec", "small:ground_truth")):
        result = ohr("compare", *sides, "--qrels", "qrels.txt")
        assert result.exit_code == 2
        assert "`ohr export small --trec DIR`" in result.stderr
    result = ohr("compare", "small", "small", "--qrels", "qrels.txt")
    assert (result.exit_code, "--qrels and --clusters are for files of TREC" in " ".join(result.stderr.split())) == (
        2,
        True,
    )


def test_junit_has_a_case_for_each_comparison_with_the_numbers_of_the_table(files, ohr):
    words = (*TWO, "--fail-if", "low > 0.02", "--junit", "out.xml")
    result = ohr(*words)
    assert result.exit_code == 1
    only = suite((files / "out.xml").read_bytes())
    cases = only.findall("testcase")
    assert [case.attrib["name"] for case in cases] == ["nDCG@10", "R@100", "RR"]
    assert {case.attrib["classname"] for case in cases} == {"bm25.trec against weak.trec"}
    assert [case.find("failure") is not None for case in cases] == [True, False, True]
    assert not any(case.find("skipped") is not None for case in cases)  # what is identical is judged, too
    assert "low > 0.02 is met: low = 0." in cases[0].find("failure").attrib["message"]
    for case in cases:
        cells = dict(line.split(": ", 1) for line in case.findtext("system-out").splitlines())
        (row,) = (line for line in result.stdout.splitlines() if line.startswith(f"{case.attrib['name']} "))
        assert all(cell.strip() in row for cell in cells.values())
    assert ohr(*words).exit_code == 1  # ohr's own file may be replaced
    (files / "out.xml").write_text("mine")
    assert "add --force" in ohr(*words).stderr
    assert ohr(*words, "--force").exit_code == 1


def test_junit_is_printed_alone(files, ohr):
    result = ohr(*TWO, "--junit", "-")
    assert result.exit_code == 0
    assert not suite(result.stdout).findall("testcase/failure")
    whole = ohr(*TWO, "--junit", "out.xml", "--json")
    assert json.loads(whole.stdout)["questions"] == 40
    assert suite((files / "out.xml").read_bytes()) is not None


def test_too_many_missing_topics_are_an_error_of_junit(files, ohr):
    lines = (files / "weak.trec").read_text().splitlines(keepends=True)
    (files / "weak.trec").write_text("".join(lines[:100]))
    result = ohr(*TWO, "--metric", "RR", "--fail-if", "low > 0.02", "--junit", "-")
    assert result.exit_code == 1
    (case,) = suite(result.stdout).findall("testcase")
    assert case.find("error").attrib["message"] == "too much failed: 20 of 40 questions"
    assert "failed (20 of 40)" in ohr(*TWO, "--metric", "RR").stdout


def test_names_that_xml_cannot_hold_are_written(files, ohr):
    odd = "we\x01ak <&>.trec"
    (files / "weak.trec").rename(files / odd)
    result = ohr("compare", "bm25.trec", odd, "--qrels", "qrels.txt", "--junit", "out.xml")
    assert result.exit_code == 0
    assert suite((files / "out.xml").read_bytes()).attrib["name"] == "bm25.trec against we?ak <&>.trec"


def test_junit_of_runs_has_their_comparisons(ohr, there):
    sides = ("small:ground_truth", "small:formatting-0.6")
    result = ohr("compare", *sides, "--fail-if", "lost > 0.02", "--fail-if", "p < 0.0001", "--junit", "-")
    assert result.exit_code == 1
    only = suite(result.stdout)
    assert only.attrib["name"] == "small:ground_truth against small:formatting-0.6"
    pairs = json.loads(ohr("compare", *sides, "--json").stdout)["pairs"]
    assert [case.find("failure") is not None for case in only.findall("testcase")] == [p["lost"] > 0.02 for p in pairs]
