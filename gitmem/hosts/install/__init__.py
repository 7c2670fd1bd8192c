"""Writing gitmem into the configuration of hosts, and taking it out again."""
