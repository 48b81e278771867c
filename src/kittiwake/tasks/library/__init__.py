"""The learning tasks, a file each, and what several of them share."""
