"""Steps from a prompt to a score: of answers, and of pages that a judge is asked about."""
