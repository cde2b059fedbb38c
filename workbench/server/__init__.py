"""The server around the pages: worker processes, and checks of every request."""
