"""`ohr schema`: print the JSON Schema of specs, for editors."""

import json

from ohr.cli.display.console import say


def schema() -> None:
    """Print the JSON Schema of a spec, installed plugins included."""
    from ohr.spec.schema import spec_schema

    say(json.dumps(spec_schema(), indent=2, ensure_ascii=False))
