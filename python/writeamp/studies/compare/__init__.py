"""Comparison: block managers and victim policies side by side on the same loads."""
