"""Tables that follow from the measured ones of a run: means, losses, intervals, comparisons."""
