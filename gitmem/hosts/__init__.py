"""Programs and people that use gitmem: thin adapters that read the environment, ask, and say. Nothing else decides."""
