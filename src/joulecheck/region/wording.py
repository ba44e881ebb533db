"""Regions in one English sentence, in the letters and terms of the field."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from decimal import Decimal
from typing import Final

from joulecheck.region.atoms import Atom, Interval, Kinds, Residues, Values
from joulecheck.region.columns import (
    EXTREMES,
    FACTOR,
    GENE,
    LARGEST,
    LEAST,
    PERTURBED,
    TOLD,
)
from joulecheck.region.features import Feature, How

NOUNS: Final = {
    "gemm": "GEMM",
    "conv2d": "convolution",
    "elementwise": "elementwise operator",
}

_GEMMS: Final = frozenset("mnk")
_CONVOLUTIONS: Final = frozenset(
    {"filters", "r", "s", "p", "q", "stride", "padding", "dilation", "groups"}
)
_ELEMENTWISE: Final = frozenset({"function", "operands"})
_LETTERS: Final = frozenset("mnkchwrspq")

_WORDS: Final = {
    "macs": "MACs",
    "operator macs": "MACs",
    "operator ops": "ops",
    "operator input bytes": "input bytes",
    "operator weight bytes": "weight bytes",
    "operator output bytes": "output bytes",
    "footprint": "bytes of all operands",
    "nodes": "operators",
    LARGEST: "the largest factor",
    LEAST: "the least factor",
    "gemm nodes": "GEMMs",
    "conv2d nodes": "convolutions",
    "elementwise nodes": "elementwise operators",
    "loop m": "loop M",
    "loop n": "loop N",
    "loop k": "loop K",
}

_TRAITS: Final = {"grown": "growing", "machine": ""}
"""What stands before the kinds of some traits; else it is the trait's own name."""

_FLAGS: Final = {
    "weight from inside": ("a B operand from inside", "no B operand from inside"),
    "output read inside": ("an output read inside", "no output read inside"),
    "inputs from inside": ("an input from inside", "no input from inside"),
    "inputs from outside": ("an input from outside", "no input from outside"),
}

_FIRST: Final = {"larger": "smaller", "wider": "narrower", "other": "one", "parts": "whole"}
"""The role of the first question, whose names are bare, by that of the second."""

SHOWN: Final = 8
"""Residues or values that are listed; more are counted."""

_ROUND: Final = 1 << 12
"""Powers of two from here on are written as such."""

_NEAR: Final = 1e-6
"""Numbers that are nearer to 1 are written as 1 and the difference."""


def sentence(
    operators: Sequence[Sequence[Atom]], atoms: Sequence[Atom], *, graphs: bool
) -> str:
    """What a region holds, such as "every INT8 GEMM with K mod 128 = 5 and M >= 1001".

    Args:
        operators: for each pattern, what holds of one operator.
        atoms: what holds of the whole case.
        graphs: whether a case may have more operators than the patterns.
    """
    precisions = [a for a in atoms if isinstance(a, Kinds) and a.of == "precision"]
    whole = [text for a in atoms if a not in precisions for text in condition(a)]
    width = "".join(f"{_either(atom.names)} " for atom in precisions)
    patterns = [_pattern(pattern) for pattern in operators]
    if graphs and patterns:
        having = _all([_article(_with(noun, parts, "with")) for noun, parts in patterns])
        subject = f"every {width}graph that has {having}"
        return _with(subject, whole, ", in all with")
    noun = patterns[0][0] if patterns else "case"
    parts = [part for _, some in patterns for part in some]
    return _with(f"every {width}{noun}", [*parts, *whole], "with")


def _pattern(atoms: Sequence[Atom]) -> tuple[str, list[str]]:
    """The noun for an operator, and what else holds of it."""
    kinds = [a for a in atoms if isinstance(a, Kinds) and a.of == "kind"]
    parts = [text for a in atoms if a not in kinds for text in condition(a)]
    names = kinds[0].names if kinds else _implied(atoms)
    return _either([NOUNS.get(name, name) for name in names]) or "operator", parts


def _implied(atoms: Iterable[Atom]) -> list[str]:
    """The kind of operator that alone has the fields that the atoms speak of."""
    names = {name for atom in atoms for name in _columns(atom)}
    known = {
        "gemm": _GEMMS,
        "conv2d": _CONVOLUTIONS,
        "elementwise": _ELEMENTWISE,
    }
    return [kind for kind, fields in known.items() if fields & names][:1]


def _columns(atom: Atom) -> tuple[str, ...]:
    return (atom.of,) if isinstance(atom, Kinds) else atom.feature.of


def condition(atom: Atom) -> list[str]:
    """An atom in words; an interval without ends says nothing."""
    match atom:
        case Kinds():
            names = [n.lower() if atom.of == "function" else n for n in atom.names]
            return [f"{_TRAITS.get(atom.of, atom.of)} {_either(names)}".strip()]
        case Residues():
            return [f"{name_of(atom.feature)} mod {atom.period} {_rests(atom)}"]
        case Values():
            return [f"{name_of(atom.feature)} {_one_of(atom.values)}"]
        case Interval():
            text = _flag(atom) or _relation(atom) or _interval(atom)
            return [text] if text else []


def _flag(atom: Interval) -> str:
    """A number that is 0 or 1, or a factor, said without numbers."""
    name = atom.feature.of[0]
    if atom.feature.how is not How.VALUE:
        return ""
    if name in _FLAGS:
        if (atom.low, atom.high) == (1.0, None):
            return _FLAGS[name][0]
        return _FLAGS[name][1] if atom.high == 0 else ""
    if name.startswith(PERTURBED):
        coefficient = name.removeprefix(PERTURBED)
        return f"{coefficient} {'unperturbed' if atom.high == 0 else 'perturbed'}"
    return ""


def _relation(atom: Interval) -> str:
    """A difference as a comparison of its two numbers."""
    if atom.feature.how is not How.DIFFERENCE:
        return ""
    one, other = (_name(name) for name in atom.feature.of)
    low, high = atom.low, atom.high
    if low is not None and high is None:
        return f"{one} > {other}" if low == 1 else f"{one} >= {_plus(other, low)}"
    if high is not None and low is None:
        return f"{one} < {other}" if high == -1 else f"{one} <= {_plus(other, high)}"
    return f"{one} = {_plus(other, low)}" if low is not None and low == high else ""


def _plus(name: str, more: float) -> str:
    if not more:
        return name
    return f"{name} {'+' if more > 0 else '-'} {number(abs(more))}"


def _interval(atom: Interval) -> str:
    name, low, high = name_of(atom.feature), atom.low, atom.high
    if low is not None and low == high:
        return f"{name} = {number(low)}"
    if low is not None and high is not None:
        return f"{number(low)} <= {name} <= {number(high)}"
    if low is not None:
        return f"{name} >= {number(low)}"
    if high is None:
        return ""
    return f"{name} {'=' if high == 0 and _is_count(atom) else '<='} {number(high)}"


def _is_count(atom: Interval) -> bool:
    """Whether a number is never below 0."""
    return atom.feature.how is not How.DIFFERENCE


def _rests(atom: Residues) -> str:
    others = [rest for rest in range(atom.period) if rest not in atom.residues]
    if len(atom.residues) <= len(others):
        return _one_of(atom.residues)
    if len(others) == 1:
        return f"!= {others[0]}"
    if len(others) <= SHOWN:
        return f"not in {_set(others)}"
    return _one_of(atom.residues)


def _one_of(values: Sequence[float]) -> str:
    if len(values) == 1:
        return f"= {number(values[0])}"
    return f"in {_set(values)}"


def _set(values: Sequence[float]) -> str:
    shown = ", ".join(number(value) for value in values[:SHOWN])
    more = len(values) - SHOWN
    return f"{{{shown}, and {more} more}}" if more > 0 else f"{{{shown}}}"


def name_of(feature: Feature) -> str:
    """Such as "M x N" or "ceil(M / 128) x ceil(N / 128)"."""
    names = [_name(name) for name in feature.of]
    match feature.how:
        case How.DIFFERENCE:
            return f"({names[0]} - {names[1]})"
        case How.RATIO:
            return _of_both(*feature.of) or f"{names[0]} / {names[1]}"
        case How.TILES:
            sizes = zip(names, feature.tiles, strict=True)
            return " x ".join(f"ceil({name} / {size})" for name, size in sizes)
        case _:
            return " x ".join(names)


def _of_both(name: str, other: str) -> str:
    """One number of a second question over that of the first; empty if it is none."""
    role, _, short = name.partition(" ")
    if role not in _FIRST or short != other:
        return ""
    return f"{_name(short)} ({role} / {_FIRST[role]})"


def _name(name: str) -> str:
    if name in _LETTERS:
        return name.upper()
    if name.startswith(FACTOR):
        return f"the factor of {name.removeprefix(FACTOR)}"
    if TOLD in name:
        role, _, figure = name.partition(TOLD)
        return f"{figure} of the {role.strip()}" if role else figure
    role, _, short = name.partition(" ")
    if f"{role} " in EXTREMES and name not in _WORDS:
        return f"the {role} {_extreme(short)}"
    known = _WORDS.get(name) or (f"{role} {_WORDS[short]}" if short in _WORDS else name)
    return known.removeprefix(GENE)


def _extreme(name: str) -> str:
    """What the largest or the smallest is of, last the question if it is not the first."""
    role, _, short = name.partition(" ")
    return f"{_name(short)} of the {role}" if role in _FIRST else _name(name)


def number(value: float) -> str:
    """A number, whole if it is, as a power of two if it is a large one."""
    if not float(value).is_integer():
        return _near_one(value) if abs(value - 1) < _NEAR else f"{value:.12g}"
    whole = int(value)
    if whole >= _ROUND and whole & (whole - 1) == 0:
        return f"2^{whole.bit_length() - 1}"
    return str(whole)


def _near_one(value: float) -> str:
    more = float(Decimal(repr(float(value))) - 1)
    return f"1 {'+' if more > 0 else '-'} {abs(more):.12g}"


def _with(subject: str, parts: Sequence[str], word: str) -> str:
    if not parts:
        return subject
    joint = "" if word.startswith(",") else " "
    return f"{subject}{joint}{word} {_all(parts)}"


def _all(parts: Sequence[str]) -> str:
    return " and ".join([", ".join(parts[:-1]), parts[-1]] if len(parts) > 1 else parts)


def _either(names: Sequence[str]) -> str:
    return " or ".join([", ".join(names[:-1]), names[-1]] if len(names) > 1 else names)


def _article(noun: str) -> str:
    return f"{'an' if noun[0] in 'aeiou' else 'a'} {noun}"
