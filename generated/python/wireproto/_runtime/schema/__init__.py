"""The schema of a protocol: everything that codecs and sessions need to know, as immutable nodes.

Each kind of node is a class of its own with named fields; closed unions (`Type`, `Length`, `Carrier`,
`Expression`, `FieldValue`, `Effect`) list the kinds that are allowed in a place.
"""
