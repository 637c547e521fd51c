#!/usr/bin/env python3
"""Writes a CSV file as Parquet: parquet.py DATA.csv OUT.parquet ROWS_OF_A_GROUP

Columns of numbers are doubles, the others texts; plain encoding, no compression, no missing values.
For scripts/checks/mpi, without a library: https://parquet.apache.org/docs/file-format/ and the compact
protocol of Thrift.
"""

import csv
import struct
import sys

DOUBLE, BYTE_ARRAY, UTF8, REQUIRED, PLAIN, RLE = 5, 6, 0, 0, 0, 3
# Types of fields in the compact protocol.
I32, I64, BINARY, LIST, STRUCT = 5, 6, 8, 9, 12


def varint(n):
    out = b""
    while n > 127:
        out, n = out + bytes([n & 127 | 128]), n >> 7
    return out + bytes([n])


def encoded(kind, value):
    if kind in (I32, I64):
        return varint(value << 1)
    if kind == BINARY:
        return varint(len(value)) + value
    if kind == LIST:
        of, items = value
        head = bytes([len(items) << 4 | of]) if len(items) < 15 else bytes([0xF0 | of]) + varint(len(items))
        return head + b"".join(encoded(of, item) for item in items)
    return struct_of(value)


def struct_of(fields):
    """Fields as (number, type, value), in the order of their numbers."""
    out, last = b"", 0
    for number, kind, value in fields:
        out += bytes([number - last << 4 | kind]) + encoded(kind, value)
        last = number
    return out + b"\0"


def is_number(text):
    try:
        return float(text) == float(text)
    except ValueError:
        return False


def main(source, target, group):
    with open(source, newline="", encoding="utf-8") as file:
        names, *rows = csv.reader(file)
    columns = list(zip(*rows))
    numeric = [all(map(is_number, column)) for column in columns]
    out, groups = b"PAR1", []
    for first in range(0, len(rows), group):
        chunks, start = [], len(out)
        for name, column, number in zip(names, columns, numeric):
            values = column[first : first + group]
            if number:
                page = struct.pack(f"<{len(values)}d", *map(float, values))
            else:
                texts = [value.encode() for value in values]
                page = b"".join(struct.pack("<I", len(text)) + text for text in texts)
            data = [(1, I32, len(values)), (2, I32, PLAIN), (3, I32, RLE), (4, I32, RLE)]
            header = struct_of([(1, I32, 0), (2, I32, len(page)), (3, I32, len(page)), (5, STRUCT, data)])
            at, size = len(out), len(header) + len(page)
            out += header + page
            about = [
                (1, I32, DOUBLE if number else BYTE_ARRAY),
                (2, LIST, (I32, [PLAIN, RLE])),
                (3, LIST, (BINARY, [name.encode()])),
                (4, I32, 0),
                (5, I64, len(values)),
                (6, I64, size),
                (7, I64, size),
                (9, I64, at),
            ]
            chunks.append([(2, I64, at), (3, STRUCT, about)])
        count = len(rows[first : first + group])
        groups.append([(1, LIST, (STRUCT, chunks)), (2, I64, len(out) - start), (3, I64, count)])
    schema = [[(4, BINARY, b"table"), (5, I32, len(names))]]
    for name, number in zip(names, numeric):
        kind = [(1, I32, DOUBLE)] if number else [(1, I32, BYTE_ARRAY)]
        text = [] if number else [(6, I32, UTF8)]
        schema.append(kind + [(3, I32, REQUIRED), (4, BINARY, name.encode())] + text)
    footer = struct_of([(1, I32, 1), (2, LIST, (STRUCT, schema)), (3, I64, len(rows)), (4, LIST, (STRUCT, groups))])
    with open(target, "wb") as file:
        file.write(out + footer + struct.pack("<I", len(footer)) + b"PAR1")


if __name__ == "__main__":
    main(sys.argv[1], sys.argv[2], int(sys.argv[3]))
