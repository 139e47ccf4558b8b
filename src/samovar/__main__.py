"""`python -m samovar`: the command line."""

from samovar.cli.main import main

raise SystemExit(main())
