"""The command line; `commands.py` lists the commands, a thin file each."""
