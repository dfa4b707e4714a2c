"""What commands say: text from a database on a terminal, and what is wrong with a file."""

import json
import os
import sys
from pathlib import Path
from typing import NoReturn

import click

USAGE = 2


def printable(text: object) -> str:
    """What stands in the database, with control characters shown instead of obeyed."""
    return "".join(c if c.isprintable() else c.encode("unicode_escape").decode("ascii") for c in str(text))


def complain(command: str, error: Exception, as_json: bool) -> NoReturn:
    """Say what is wrong with the input, as JSON where JSON was asked for, and exit with 2."""
    text = getattr(error, "text", "") or str(error)
    if as_json:
        click.echo(json.dumps({"error": text}))
    else:
        click.echo(f"tenure {command}: {text}", err=True)
    sys.exit(USAGE)


def require_place(_: click.Context, __: click.Parameter, file: Path | None) -> Path | None:
    """For an option that names a file to write: refuse one whose folder takes none, before any work is done for it."""
    if file is not None and not os.access(file.parent, os.W_OK | os.X_OK):
        raise click.BadParameter(f"{printable(file.parent)} is not a folder that can be written to")
    return file
