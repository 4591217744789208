"""The memory that one capture may take, declared before its first byte is read."""

from dataclasses import dataclass


@dataclass(frozen=True, slots=True, kw_only=True)
class CaptureLimits:
    """Bounds in bytes if the name says size or buffer, else numbers of items.

    `packet_size`: the bytes of one packet that are kept; the rest counts as cut. 256 KiB is the limit of
    Wireshark. `stream_buffer`: the bytes held out of order per direction of a flow; `total_buffer`: those of
    all flows together.

    `sequence_jump`: the largest accepted distance of a segment from the expected byte; TCP's largest window
    is 1 GiB.

    `window_size`: the bytes that are read at once, 1 or more. With longer windows, fewer packets are cut by their ends.
    """

    packet_size: int = 256 * 1024
    stream_buffer: int = 4 * 1024 * 1024
    total_buffer: int = 64 * 1024 * 1024
    n_flows: int = 32_768
    n_interfaces: int = 4_096
    sequence_jump: int = 1 << 30
    window_size: int = 512 * 1024
