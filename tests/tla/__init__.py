"""The second opinion: the ownership protocol in TLA+ (``specs/tla``), checked by TLC and read back as a graph."""
