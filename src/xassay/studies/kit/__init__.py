"""What studies share, a module for each thing that all of them would write alike."""
