"""Park, Lee, Won and Ahn 2017 (paper 1), one module for each part of the paper."""
