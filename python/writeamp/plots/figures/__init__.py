"""One module a figure: plain numbers in, a `FigureSpec` out."""
