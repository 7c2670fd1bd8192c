"""The Git ground: paths, bytes, blob and commit ids, through libgit2; nothing here knows what a record is.

No ``git`` process is started and no hook, filter, pager or global setting acts. ``discover``, ``head``, ``index_file``,
``lockfile``, ``message`` and ``names`` are importable without libgit2.
"""
