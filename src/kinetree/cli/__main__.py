"""`python -m kinetree.cli`, where the script `kinetree` is not on the path."""

from kinetree.cli.main import main

main()
