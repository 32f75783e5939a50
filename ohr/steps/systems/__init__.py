"""Steps of systems: documents handed over, questions asked, contexts located."""
