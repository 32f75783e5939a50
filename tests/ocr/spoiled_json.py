"""JSON in which everything at one depth is of the wrong type."""


def spoilt(value, depth, wrong):
    """Return a value with `wrong` in place of everything at a depth."""
    if depth == 0:
        return wrong
    if isinstance(value, dict):
        return {key: spoilt(each, depth - 1, wrong) for key, each in value.items()}
    return [spoilt(each, depth - 1, wrong) for each in value] if isinstance(value, list) else value
