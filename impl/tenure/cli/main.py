"""The command group and what all commands share."""

import logging

import click

from tenure.cli.explore import explore_command
from tenure.cli.hazard import hazard_command
from tenure.cli.journal import journal_command
from tenure.cli.replay import replay_command
from tenure.cli.runs import runs_command


@click.group(context_settings={"help_option_names": ["-h", "--help"]})
@click.version_option(package_name="tenure")
def main() -> None:
    """Look at durable runs, replay recorded behaviour, and search the model."""
    # A command says by itself what matters; warnings of a replayed journal are not news.
    logging.getLogger("tenure").addHandler(logging.NullHandler())


main.add_command(explore_command)
main.add_command(hazard_command)
main.add_command(journal_command)
main.add_command(replay_command)
main.add_command(runs_command)
