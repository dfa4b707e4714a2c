"""The ``tenure`` command. Each subcommand lives in a module of its own and imports what it needs when it runs."""

from tenure.cli.main import main

__all__ = ["main"]
