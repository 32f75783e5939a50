"""The tables that a user reads, each made once from a run: the screen and the report write the same cells."""
