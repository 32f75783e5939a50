"""`python -m ohr`: the command `ohr`, for where its script is not on the path."""

from ohr.cli import main

main()
