"""What may be written, by whom: the authority table, the bounds of content, and the secret scanner. Pure."""
