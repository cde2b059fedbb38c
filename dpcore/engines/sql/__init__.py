"""Sources that answer queries, DuckDB, with files through it, and PostgreSQL."""
