"""Makes the tables of the pages from docs/results. The command is scripts/tables.py; pages.py puts
the tables in, and the other modules make them."""
