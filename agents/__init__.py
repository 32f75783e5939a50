"""Agents: systems that retrieve, read and ask again."""
