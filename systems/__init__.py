"""Systems that a team already has, and how they are reached: a Python class, a server, or files of answers."""
