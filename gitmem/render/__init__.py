"""Text that gitmem writes from records: the views. The only home of Jinja; it reads nothing but shipped templates."""
