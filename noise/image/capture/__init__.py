"""Capture conditions: a page as a phone photographs it."""
