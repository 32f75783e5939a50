import pytest

from ohr.report.figures.panels import Curve, Panel, System
from ohr.report.figures.style import HUES, INK, MARKERS, paler, style_of


def panel(*curves):
    return Panel("overall", "all", "f1", tuple(Curve(noise, kind, system, ()) for noise, kind, system in curves))


def of(retriever="bm25", generator="small", noise="formatting", kind="formatting"):
    return noise, kind, System("", retriever, generator)


def test_a_retriever_has_one_hue_and_a_generator_one_tone():
    style = style_of([panel(of("bm25", "small"), of("bm25", "large"), of("dense", "small"), of("dense", "large"))])
    assert style.color(System("", "bm25", "small")) == HUES[0]
    assert style.color(System("", "dense", "small")) == HUES[1]
    assert style.color(System("", "dense", "large")) == paler(HUES[1], 0.45)


def test_a_generator_without_a_retriever_is_in_ink():
    assert style_of([panel(of(retriever=""))]).color(System("", "", "small")) == INK


def test_clean_text_needs_no_marker():
    style = style_of([panel(of(noise="ground_truth", kind="none"), of(noise="scan", kind="semantic"), of())])
    assert style.markers == {"scan": MARKERS[0], "formatting": MARKERS[1]}


def test_formatting_noises_come_first():
    style = style_of([panel(of(noise="scan", kind="semantic"), of(), of(noise="tables"))])
    assert style.noises == ["formatting", "tables", "scan"]


@pytest.mark.parametrize("count", [7, 13])
def test_palettes_begin_again_when_they_end(count):
    style = style_of([panel(*(of(f"retriever {i}", noise=f"noise {i}") for i in range(count)))])
    assert style.hues[f"retriever {len(HUES)}"] == HUES[0]
    assert len(style.markers) == count


@pytest.mark.parametrize("count", [2, 3, 5])
def test_tones_differ_and_never_vanish(count):
    tones = style_of([panel(*(of(generator=str(i)) for i in range(count)))]).tones
    assert len(set(tones.values())) == count
    assert max(tones.values()) <= 0.6
