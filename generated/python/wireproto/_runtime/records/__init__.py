"""Messages as JSON records, and back."""
