"""What a point of a sweep may be: one file for each kind."""
