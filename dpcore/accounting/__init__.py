"""Privacy losses, how they add up, and the ledger that keeps them."""
