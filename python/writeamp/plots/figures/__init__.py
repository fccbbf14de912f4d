"""Figures, one module each: plain numbers in, a `FigureSpec` out."""
