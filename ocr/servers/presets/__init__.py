"""How published models are asked, one file each."""
