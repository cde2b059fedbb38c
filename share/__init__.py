"""Pages for people who have a link, without a session and without rows."""
