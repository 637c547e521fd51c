"""Tables and single figures of the pages, made from docs/results. scripts/tables.py is the command; pages.py puts them in, the rest make them."""
