"""The nouns: frozen values and enums, no input or output. Everything else in gitmem is said in these words."""
