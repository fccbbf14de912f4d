"""What draws a `FigureSpec`: matplotlib for pictures, plotly for pages."""
