"""Reports: figures, leaderboards and analyses of finished runs."""
