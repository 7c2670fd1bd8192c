"""The search catalog: what the records of one vault say, in a derived SQLite database that may be deleted at any time.

The only importer of ``sqlite3``. It knows neither how a record is parsed nor what a secret or a term is; it is handed
functions for these. Use: ``open_database``, ``reconcile`` before each answer, then the questions in ``query``.
"""
