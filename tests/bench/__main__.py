"""``make bench``: every measurement in one run, a line as soon as it is known."""

import sys

from tests.bench import aio, attempts, events, explore, journal, model, runs, scale, threads

SECTIONS = {
    "Run store against a bare APSW loop of the same statements": runs.rows,
    "Attempt store against a bare APSW loop of the same statements": attempts.rows,
    "Journal against a bare APSW loop of the same statements": journal.rows,
    "Engine events": events.rows,
    "Eight threads against a bare loop that commits in groups": threads.rows,
    "Tasks against threads": aio.rows,
    "Model and simulator": model.rows,
    "Explorer": explore.rows,
    "Cost beside other runs": scale.rows,
}


def main() -> None:
    """Print every section, or those whose title contains a word given."""
    wanted = sys.argv[1:]
    for title, rows in SECTIONS.items():
        if wanted and not any(word.lower() in title.lower() for word in wanted):
            continue
        sys.stdout.write(f"\n{title}\n")
        for row in rows():
            sys.stdout.write(f"  {row}\n")
            sys.stdout.flush()


if __name__ == "__main__":
    main()
