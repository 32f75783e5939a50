"""Steps from a prompt to a scored answer."""
