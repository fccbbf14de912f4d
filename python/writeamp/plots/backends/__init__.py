"""Drawing of a `FigureSpec` by Matplotlib, also inside HTML pages as SVG."""
