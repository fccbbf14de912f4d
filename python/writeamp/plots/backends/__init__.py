"""What draws a `FigureSpec`: matplotlib, for pages too, which have its SVG in them."""
