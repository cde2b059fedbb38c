"""Sources read by queries: DuckDB, with files through it, and PostgreSQL."""
