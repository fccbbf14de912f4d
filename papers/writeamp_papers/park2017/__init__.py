"""Park, Lee, Won and Ahn 2017 (paper 1), one module a part of the paper."""
