"""What one capture may cost in memory, declared before its first byte is read."""

from dataclasses import dataclass


@dataclass(frozen=True, slots=True, kw_only=True)
class CaptureLimits:
    """Bounds in bytes where the name says size or buffer, else in things counted.

    `packet_size`: more of one packet is not kept, the rest counts as cut.  256 KiB is what Wireshark allows.
    `stream_buffer`: held out of order per direction of a flow; `total_buffer`: in all flows together.
    `sequence_jump`: how far from the expected byte a segment is believed; TCP's largest window is 1 GiB.
    """

    packet_size: int = 256 * 1024
    stream_buffer: int = 4 * 1024 * 1024
    total_buffer: int = 64 * 1024 * 1024
    n_flows: int = 32_768
    n_interfaces: int = 4_096
    sequence_jump: int = 1 << 30
