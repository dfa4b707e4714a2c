"""Own durable runs safely: leases, fences and takeovers over SQLite."""
