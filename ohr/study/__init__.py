"""A study: from a spec to a folder of results."""
