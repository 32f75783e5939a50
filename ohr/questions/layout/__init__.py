"""The set as files: OHRBench's official layout, a datasheet, and `set.json` about where the ground truth comes from."""
