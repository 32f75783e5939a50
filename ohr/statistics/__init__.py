"""Statistics of scores whose questions share documents: intervals, comparisons, curves, planning."""
