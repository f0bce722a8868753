"""What every part may import: argument checks, lazy attributes, locks, files."""
