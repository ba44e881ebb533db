"""`python -m joulecheck` is the command `joulecheck`."""

from joulecheck.cli import main

if __name__ == "__main__":
    main()
