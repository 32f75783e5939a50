"""Plugins for ohr, shipped as a package of their own."""
