"""From a checked schema to the files of a generated tree."""
