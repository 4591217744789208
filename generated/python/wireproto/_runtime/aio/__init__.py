"""asyncio endpoints around sans-IO connections."""
