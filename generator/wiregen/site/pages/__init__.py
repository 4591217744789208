"""The site of protocols: pages made of their models, with every example read while its page is made."""

from wiregen.site.pages.chapter import Chapter
from wiregen.site.pages.site import build_site

__all__ = ["Chapter", "build_site"]
