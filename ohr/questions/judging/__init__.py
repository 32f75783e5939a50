"""Verification by models: the rules that ask them, and how their replies are read."""

from .agreement import agrees
from .bounds import Bound, prompts_bound
from .rules import model_rules
from .settings import ModelRule, Settings

__all__ = ["Bound", "ModelRule", "Settings", "agrees", "model_rules", "prompts_bound"]
