"""The site of protocols: pages made of their models, with every example read while its page is made."""

from wiregen.docs.book import Chapter
from wiregen.docs.site import build_site

__all__ = ["Chapter", "build_site"]
