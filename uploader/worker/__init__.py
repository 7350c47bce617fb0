"""The worker: takes records at once, and brings them to every sink in the background."""
