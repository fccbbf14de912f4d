"""Figure functions, by subject: plain numbers in, a `FigureSpec` out."""
