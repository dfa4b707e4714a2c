"""What can go wrong although everybody keeps to the rules: each hazard, shown by running the model."""
