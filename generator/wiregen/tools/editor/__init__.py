"""The language server for `.wire` files in editors, over the Language Server Protocol 3.17."""
