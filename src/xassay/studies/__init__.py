"""Each study turns settings into cells, and the cells' frames into results."""
