"""`python -m samovar`: the command line."""

from samovar.cli import main

raise SystemExit(main())
