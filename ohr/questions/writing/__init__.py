"""Question writing by a model: what is asked of which page, and what becomes of the replies."""
