"""What the server answers to people who have a link: pages that need no session and see no rows."""
