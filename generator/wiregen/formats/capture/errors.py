"""The one error of this room: everything less than "no capture at all" is an issue and reading goes on."""


class CaptureError(ValueError):
    """The source is no capture or cannot be read; the text says what was found and what was expected."""
