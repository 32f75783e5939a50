"""Steps: the pieces of work of a run. Each reads its inputs from the store and writes its outputs there."""
