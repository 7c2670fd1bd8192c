"""``gitmem mcp``: the memory as tools of the Model Context Protocol, over standard input and output.

Everything here asks as a model. The one home of the SDK (ADR 0032).
"""
