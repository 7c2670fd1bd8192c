"""The command line. ``run`` is its way in; each verb is one file in ``commands``."""
