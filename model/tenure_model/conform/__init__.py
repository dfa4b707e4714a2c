"""How the semantics binds others: the wire form, traces, and replaying them on any system."""
