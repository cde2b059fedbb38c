"""Sources read by SQL queries: DuckDB (databases and files) and PostgreSQL."""
