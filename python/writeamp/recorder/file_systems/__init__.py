"""File systems whose allocations can be recorded: events, and places of journal and files."""
