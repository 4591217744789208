"""`python -m wiregen`, where the script is not on the path."""

from wiregen.tools.cli.command import main

main()
