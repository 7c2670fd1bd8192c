"""One change, one lock, one commit, one receipt. ``apply`` reads like the list in section 5 of the design."""
