"""Human review of candidates: decisions, and what they do to a set."""
