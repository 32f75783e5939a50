"""How far areas by linear interpolation between a few levels are from those of the whole curve.

Falling curves of three kinds (exponential, power, and steps of three widths) are read at levels of noise: at those of
two studies, and at random ones that cover the range without a gap wider than it is.

    python speed/area_error.py [--sets 600]
"""

import argparse

import numpy as np

from ohr.statistics.curves import area, levels_around, uncovered

DOSES = np.linspace(0, 1, 2001)
SPAN = (0.1, 0.6)
STUDIES = {"0, .08, .44, .81": [0, 0.08, 0.44, 0.81], "0, .40, .74": [0, 0.4, 0.74]}


def falling():
    """Yield the kind and the heights of each curve at DOSES; all begin at 1."""
    for rate in (0.5, 1, 2, 3, 4):
        yield "exponential", np.exp(-rate * DOSES)
    for power in (0.5, 0.7, 1.5, 2, 3):
        yield "power", 1 - 0.9 * DOSES**power
    for width in (0.05, 0.1, 0.2):
        for center in (0.2, 0.35, 0.5):
            step = 1 / (1 + np.exp(-(DOSES - center) / width))
            yield f"step of width {width:g}", 1 - 0.9 * (step - step[0]) / (step[-1] - step[0])


def drawn(rng, count, sets):
    """Yield levels, clean text and random ones, of which so many are on or around SPAN."""
    for _ in range(sets):
        levels = np.sort(np.append(0, rng.uniform(0, 1, rng.integers(2, count + 3))))
        if not uncovered(levels, *SPAN) and levels_around(levels, *SPAN) == count:
            yield levels


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--sets", type=int, default=600)
    sets = parser.parse_args().sets
    rng = np.random.default_rng(0)
    designs = {name: [np.array(levels)] for name, levels in STUDIES.items()}
    designs |= {f"{count} random levels": list(drawn(rng, count, 20 * sets)) for count in (3, 4, 5, 6)}
    for name, levels in designs.items():
        errors: dict[str, list[float]] = {}
        for kind, heights in falling():
            whole = area(DOSES, heights, *SPAN)
            errors.setdefault(kind, []).extend(
                abs(area(x, np.interp(x, DOSES, heights), *SPAN) - whole) for x in levels[:sets]
            )
        for kind, off in errors.items():
            median, high = np.quantile(off, [0.5, 0.9])
            print(f"{name:<18} {kind:<18} median {median:.3f}  9 in 10 {high:.3f}  most {max(off):.3f}")


if __name__ == "__main__":
    main()
