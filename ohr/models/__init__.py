"""Models that stages load: where they are, whether they can be loaded, and how long they stay in memory."""
