"""`python -m wiregen.cli`, where the script is not on the path."""

from wiregen.cli.command import main

main()
