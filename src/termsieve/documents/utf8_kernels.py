"""The numba loop that checks UTF-8, 64 bytes at a time.

Arrow's own check is as quick on ASCII, but takes as long as counting does where most letters are beyond it.
"""

from __future__ import annotations

from typing import Any

import numpy as np

from termsieve._numba import jit, mask_at_least

_jit: Any = jit

BLOCK = 64
_ZERO, _ONE, _TWO, _THREE = (np.uint64(n) for n in range(4))
_LAST = np.uint64(BLOCK - 1)
# Least bytes: of those that follow in a character, and of those that begin one of two, three or four bytes
_FOLLOWING, _LEAD, _LEAD_OF_THREE, _LEAD_OF_FOUR = np.uint8(0x80), np.uint8(0xC0), np.uint8(0xE0), np.uint8(0xF0)
_E0, _ED, _F0, _F4 = np.uint8(0xE0), np.uint8(0xED), np.uint8(0xF0), np.uint8(0xF4)
_LEAST_LEAD, _BEYOND_LEADS = np.uint8(0xC2), np.uint8(0xF5)  # C0, C1 and what is beyond F4 never occur


@_jit
def _equals(text, at, byte):
    """Return a bit for each byte of a block, set where it is `byte`."""
    return mask_at_least(text, at, byte) & ~mask_at_least(text, at, np.uint8(byte + 1))


@_jit
def _check_blocks(text, n_blocks, carried):
    """Tell whether the blocks are valid; `carried` has what the block before says about the first bytes of the next.

    These are the bytes that have to follow, and those whose predecessor is E0, ED, F0 or F4: behind these only some of
    the following bytes are allowed, or a character would be longer than it need be, a surrogate, or no character.
    """
    following, after_e0, after_ed, after_f0, after_f4 = carried
    for block in range(n_blocks):
        at = np.uint64(block * BLOCK)
        beyond = mask_at_least(text, at, _FOLLOWING)
        if beyond | following == _ZERO:
            continue
        two, three = mask_at_least(text, at, _LEAD), mask_at_least(text, at, _LEAD_OF_THREE)
        four = mask_at_least(text, at, _LEAD_OF_FOUR)
        expected = following | (two << _ONE) | (three << _TWO) | (four << _THREE)
        wrong = (expected ^ (beyond & ~two)) | (two & ~mask_at_least(text, at, _LEAST_LEAD))
        following = (two >> _LAST) | (three >> (_LAST - _ONE)) | (four >> (_LAST - _TWO))
        if three | after_e0 | after_ed | after_f0 | after_f4 != _ZERO:
            e0, ed = _equals(text, at, _E0), _equals(text, at, _ED)
            f0, f4 = _equals(text, at, _F0), _equals(text, at, _F4)
            a0, x90 = mask_at_least(text, at, np.uint8(0xA0)), mask_at_least(text, at, np.uint8(0x90))
            wrong |= mask_at_least(text, at, _BEYOND_LEADS)
            wrong |= ((after_e0 | (e0 << _ONE)) & ~a0) | ((after_ed | (ed << _ONE)) & a0)
            wrong |= ((after_f0 | (f0 << _ONE)) & ~x90) | ((after_f4 | (f4 << _ONE)) & x90)
            after_e0, after_ed, after_f0, after_f4 = e0 >> _LAST, ed >> _LAST, f0 >> _LAST, f4 >> _LAST
        if wrong != _ZERO:
            return False
    carried[0], carried[1], carried[2], carried[3], carried[4] = following, after_e0, after_ed, after_f0, after_f4
    return True


@_jit
def is_valid(text):
    """Tell whether the bytes are valid UTF-8, and end with the end of a character."""
    n_blocks, carried = text.shape[0] // BLOCK, np.zeros(5, np.uint64)
    if not _check_blocks(text, n_blocks, carried):
        return False
    rest = np.zeros(BLOCK, np.uint8)  # with zeros behind it: a byte that should follow is missed there
    for i in range(text.shape[0] - n_blocks * BLOCK):
        rest[i] = text[n_blocks * BLOCK + i]
    return _check_blocks(rest, np.int64(1), carried)  # a plain 1 would have the loop compiled for this number, too


@_jit
def are_cut_between_characters(text, offsets):
    """Tell whether no character of a valid text is cut at an offset."""
    cut = False
    for i in range(offsets.shape[0]):
        cut |= offsets[i] < text.shape[0] and (text[np.uint64(offsets[i])] & np.uint8(0xC0)) == _FOLLOWING
    return not cut
