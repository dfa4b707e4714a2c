"""``python -m tenure.cli``."""

from tenure.cli.main import main

if __name__ == "__main__":
    main()
