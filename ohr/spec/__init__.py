"""Reads a spec: YAML in, a frozen Spec out, or every fault at once with file and line."""
