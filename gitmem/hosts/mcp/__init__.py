"""``gitmem mcp``: the memory as tools of the Model Context Protocol, over standard input and output.

Everything here asks as a model. The protocol is spoken without its SDK, whose start no host waits for (ADR 0032).
"""
