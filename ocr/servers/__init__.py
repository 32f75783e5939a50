"""Engines that are servers: vision-language models, and document services."""
