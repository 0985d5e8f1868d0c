"""What is wrong with a test set: checks by name, what they find, and how it is mended."""
