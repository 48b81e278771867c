"""Writers of small logs as autopilots write them."""

import struct

ULOG_TYPES = {"uint64_t": "Q", "float": "f", "uint8_t": "B", "int32_t": "i"}
DATAFLASH_TYPES = {
    "Q": "Q",
    "B": "B",
    "f": "f",
    "c": "h",
    "C": "H",
    "H": "H",
    "N": "16s",
    "Z": "64s",
}


def ulog_record(kind, content):
    return struct.pack("<HB", len(content), ord(kind)) + content


def ulog_head():
    return b"ULog\x01\x125\x01" + struct.pack("<Q", 0) + ulog_record("B", bytes(40))


def ulog(topics, formats=()):
    """Return a ULog file of topics: (name, instance, fields, rows), each row after its format.

    Fields are pairs of a type and a name, such as ``("float[4]", "q")``; rows are flat.
    """
    found = ulog_head()
    for name, text in formats:
        found += ulog_record("F", f"{name}:{text}".encode())
    for name in dict.fromkeys(name for name, *_ in topics):
        fields = next(fields for other, _, fields, _ in topics if other == name)
        text = "".join(f"{kind} {field};" for kind, field in fields)
        found += ulog_record("F", f"{name}:{text}".encode())
    for number, (name, instance, _, _) in enumerate(topics):
        found += ulog_record("A", struct.pack("<BH", instance, number) + name.encode())
    for number, (_, _, fields, rows) in enumerate(topics):
        codes = "".join(_ulog_codes(kind) for kind, _ in fields)
        for row in rows:
            found += ulog_record("D", struct.pack(f"<H{codes}", number, *row))
    return found


def _ulog_codes(kind):
    name, _, count = kind.rstrip("]").partition("[")
    return ULOG_TYPES[name] * int(count or 1)


def dataflash_format(kind, name, letters, columns, length=None):
    sizes = struct.calcsize("<" + "".join(DATAFLASH_TYPES.get(letter, "B") for letter in letters))
    length = 3 + sizes if length is None else length
    body = struct.pack(
        "<BB4s16s64s", kind, length, name.encode(), letters.encode(), columns.encode()
    )
    return b"\xa3\x95\x80" + body


def dataflash_message(kind, letters, *values):
    codes = "".join(DATAFLASH_TYPES[letter] for letter in letters)
    return b"\xa3\x95" + bytes([kind]) + struct.pack(f"<{codes}", *values)


def dataflash(messages):
    """Return a DataFlash log of messages: (name, letters, columns, rows).

    A column ``I`` is the instance of a message.
    """
    found = dataflash_format(0x80, "FMT", "BBnNZ", "Type,Length,Name,Format,Columns", 89)
    found += dataflash_format(0x81, "FMTU", "QBNN", "TimeUS,FmtType,UnitIds,MultIds")
    for kind, (name, letters, columns, rows) in enumerate(messages, 1):
        found += dataflash_format(kind, name, letters, columns)
        units = "".join("#" if column == "I" else "-" for column in columns.split(","))
        found += dataflash_message(0x81, "QBNN", 0, kind, units.encode(), b"-" * len(units))
        for row in rows:
            found += dataflash_message(kind, letters, *row)
    return found
