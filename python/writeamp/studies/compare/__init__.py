"""Comparison of block managers and victim policies on the same loads."""
