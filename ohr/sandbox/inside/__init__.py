"""The part of the sandbox that runs in processes of its own; it imports the standard library only, and never ohr."""
