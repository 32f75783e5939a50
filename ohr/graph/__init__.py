"""The graph of a run: every step that a spec needs, with every key made once."""
