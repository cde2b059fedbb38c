"""Tables page: exact tables of counts, hidden cells, and what they still reveal."""
