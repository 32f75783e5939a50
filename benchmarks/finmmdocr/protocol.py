"""The two protocols by which FinMMDocR is scored."""

from typing import Literal

Protocol = Literal["clean", "reference"]
"""`reference` scores as the published code does, faults included; `clean` repairs the faults."""
