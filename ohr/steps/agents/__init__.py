"""Steps of agents: questions, calls, searches and pages looked at."""
