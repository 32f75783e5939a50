"""Prompts in files: a server of OpenAI's batch API answers them within a day, for less."""
