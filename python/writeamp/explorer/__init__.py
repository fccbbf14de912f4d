"""Page that replays small drives step by step in the browser, with ten explanatory chapters."""
