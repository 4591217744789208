"""Random schemas: whole `.wire` files drawn from a seed, built in batches, and held to every product of wiregen.

`python -m tests.property.sample_schemas SEED …` runs all checks on the schemas of some seeds, prints and shrinks those that fail.
"""
