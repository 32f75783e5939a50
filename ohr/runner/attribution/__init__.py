"""Attribution: the cost of each part of a noise."""
