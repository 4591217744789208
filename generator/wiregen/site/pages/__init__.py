"""The site of protocols: pages made from their models. Each example is decoded while its page is made."""

from wiregen.site.pages.chapter import Chapter
from wiregen.site.pages.site import build_site

__all__ = ["Chapter", "build_site"]
