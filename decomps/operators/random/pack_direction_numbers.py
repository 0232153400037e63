#!/usr/bin/env python3
"""Packs the direction numbers of Joe and Kuo for Sobol sequences.

Usage: pack_direction_numbers.py new-joe-kuo-6.21201 direction_numbers.bits

The numbers are those of S. Joe and F. Y. Kuo, "Constructing Sobol sequences with better
two-dimensional projections", SIAM J. Sci. Comput. 30, 2635-2654 (2008), which PyTorch and SciPy use;
the file of lines "d s a m_1 ... m_s" is at https://web.maths.unsw.edu.au/~fkuo/sobol/.

What is written is a string of bits, the lowest of a byte first. Each dim from the second on has s in
5 bits; a, the inner coefficients of its primitive polynomial, in s - 1 bits; and m_2 to m_s, which
are odd and below 2^i, without their lowest bit in i - 1 bits. m_1 is 1.
"""

import pathlib
import sys


def fields(line: str) -> list[tuple[int, int]]:
    """The numbers of a dim, each with how many bits it takes."""
    _, degree, polynomial, *numbers = map(int, line.split())
    if len(numbers) != degree or any(m % 2 == 0 or m >> i for i, m in enumerate(numbers, 1)):
        raise ValueError(f"expected odd numbers m_i below 2^i, as many as the degree, in: {line}")
    rest = [(m >> 1, i - 1) for i, m in enumerate(numbers, 1) if i > 1]
    return [(degree, 5), (polynomial, degree - 1), *rest]


def main() -> None:
    """Reads the file of Joe and Kuo and writes the packed one."""
    source, target = map(pathlib.Path, sys.argv[1:])
    bits, place = 0, 0
    chunks = bytearray()
    for line in source.read_text().splitlines()[1:]:
        for value, width in fields(line):
            bits |= value << place
            place += width
        while place >= 8:
            chunks.append(bits & 0xFF)
            bits >>= 8
            place -= 8
    chunks.append(bits)
    target.write_bytes(chunks)


if __name__ == "__main__":
    main()
