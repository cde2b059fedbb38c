"""What runs around the pages: processes that compute for them, and what every request passes."""
