"""The language server: what an editor shows and changes in `.wire` files, over the Language Server Protocol 3.17."""
