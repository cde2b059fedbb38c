"""Tables of counts and of rows; private and public ones are separate types."""
