"""Drawing of a `FigureSpec` with Matplotlib, as image files or as SVG inside HTML pages."""
