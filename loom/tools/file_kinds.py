"""What a file is, told from its first bytes: text and in which encoding, or which kind of binary."""

import codecs

SAMPLE = 8_192
"""Bytes looked at."""

_MAGIC = (
    (b"\x89PNG\r\n\x1a\n", "a PNG image"),
    (b"\xff\xd8\xff", "a JPEG image"),
    (b"GIF8", "a GIF image"),
    (b"BM", "a BMP image"),
    (b"II*\0", "a TIFF image"),
    (b"MM\0*", "a TIFF image"),
    (b"\0\0\1\0", "an icon"),
    (b"%PDF-", "a PDF document"),
    (b"PK\3\4", "a ZIP archive (or a document made of one)"),
    (b"\x1f\x8b", "gzip data"),
    (b"BZh", "bzip2 data"),
    (b"\xfd7zXZ\0", "xz data"),
    (b"\x28\xb5\x2f\xfd", "zstd data"),
    (b"7z\xbc\xaf\x27\x1c", "a 7-Zip archive"),
    (b"\x7fELF", "an ELF program or library"),
    (b"\xcf\xfa\xed\xfe", "a Mach-O program or library"),
    (b"\xca\xfe\xba\xbe", "a Java class or universal program"),
    (b"MZ", "a Windows program"),
    (b"\0asm", "a WebAssembly module"),
    (b"SQLite format 3\0", "an SQLite database"),
    (b"OggS", "Ogg audio or video"),
    (b"ID3", "MP3 audio"),
    (b"fLaC", "FLAC audio"),
    (b"wOFF", "a web font"),
    (b"wOF2", "a web font"),
    (b"\x93NUMPY", "a NumPy array"),
)
_BOMS = (
    # UTF-32's little-endian mark begins with UTF-16's.
    (codecs.BOM_UTF32_LE, "utf-32"),
    (codecs.BOM_UTF32_BE, "utf-32"),
    (codecs.BOM_UTF8, "utf-8-sig"),
    (codecs.BOM_UTF16_LE, "utf-16"),
    (codecs.BOM_UTF16_BE, "utf-16"),
)
_CONTROLS = frozenset(range(32)) - {7, 8, 9, 10, 12, 13, 27} | {127}


def encoding_of(sample: bytes) -> str | None:
    """The encoding of a text that begins with these bytes, None for binary. Bytes that are not UTF-8 alone make no
    binary: old texts and logs have them."""
    for mark, encoding in _BOMS:
        if sample.startswith(mark):
            return encoding
    if b"\0" in sample:
        return None
    odd = sum(byte in _CONTROLS for byte in sample)
    return None if odd * 10 > len(sample) else "utf-8"


def kind_of(sample: bytes) -> str:
    """A word for binary content: `a PNG image`."""
    if sample[:4] == b"RIFF" and sample[8:12] == b"WEBP":
        return "a WebP image"
    if sample[4:8] == b"ftyp":
        return "an MP4 or similar video"
    if sample[257:262] == b"ustar":
        return "a tar archive"
    return next((kind for magic, kind in _MAGIC if sample.startswith(magic)), "binary data")


def size_in_words(size: int) -> str:
    """`340 bytes`, `1.2 kB`, `52 MB` (powers of ten)."""
    if size < 1_000:
        return f"{size} byte{'' if size == 1 else 's'}"
    value, units = size / 1_000, iter(("kB", "MB", "GB", "TB"))
    unit = next(units)
    while value >= 999.5:
        value, unit = value / 1_000, next(units, "TB")
    return f"{value:.1f} {unit}" if value < 9.95 else f"{value:.0f} {unit}"
