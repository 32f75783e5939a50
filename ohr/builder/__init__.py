"""A set of questions from documents: reads pages, asks models, verifies the candidates, and writes the set."""
