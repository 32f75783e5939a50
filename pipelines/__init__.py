"""Specs that run as they are."""
