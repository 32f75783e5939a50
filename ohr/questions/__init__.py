"""Questions from documents: candidates, the rules that verify them, their review, and the set that is left."""
