"""The one error of this package: lesser damage than "not a capture" is an issue, and reading continues."""


class CaptureError(ValueError):
    """The source is not a capture or cannot be read; the text names the bytes that were found and expected."""


class NotCaptureError(CaptureError):
    """The source does not begin as a capture."""


class CutHeaderError(CaptureError):
    """The source is empty, or ends within the header of a capture: it is still being written, or was cut."""
