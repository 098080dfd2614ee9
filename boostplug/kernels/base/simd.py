"""Explicit SIMD: `Lanes` hold eight float64 numbers, one value to a kernel, one or a few registers to the processor.

Each lane is computed like a single number. `load` and `store` also touch the lanes past the end of a run. So arrays
have `WIDTH` elements more than they hold, and `first_lanes` replaces those lanes. `docs/explanation/pair_sums.md` says
why kernels need it.
"""

import operator
from collections.abc import Callable
from typing import Any

from llvmlite import ir
from numba import types
from numba.core import cgutils
from numba.core.typing.templates import ConcreteTemplate, infer_global, signature
from numba.extending import intrinsic, lower_builtin, models, register_model

WIDTH = 8

_FLOATS = ir.VectorType(ir.DoubleType(), WIDTH)
_INTS = ir.VectorType(ir.IntType(64), WIDTH)
_INDEX = ir.IntType(32)
_HELD = 0x4338000000000000  # bits of 1.5 · 2^52: adding an integer to the bits adds it to the number
_SQRT_HALF = 0x3FE6A09E667F3BCD  # bits of √½


class _LanesType(types.Type):  # type: ignore[misc]
    def __init__(self) -> None:
        super().__init__("Lanes")


_LANES = _LanesType()


@register_model(_LanesType)
class _LanesModel(models.PrimitiveModel):  # type: ignore[misc]
    def __init__(self, manager: Any, lanes: Any) -> None:
        super().__init__(manager, lanes, _FLOATS)


def _in_every_lane(builder: Any, value: Any) -> Any:
    alone = builder.insert_element(ir.Constant(ir.VectorType(value.type, WIDTH), ir.Undefined), value, _INDEX(0))
    return builder.shuffle_vector(alone, alone, ir.Constant(ir.VectorType(_INDEX, WIDTH), [0] * WIDTH))


def _halves(builder: Any, lanes: Any) -> tuple[Any, Any]:
    half = lanes.type.count // 2
    index = ir.VectorType(_INDEX, half)
    low, high = (ir.Constant(index, [first + i for i in range(half)]) for first in (0, half))
    return builder.shuffle_vector(lanes, lanes, low), builder.shuffle_vector(lanes, lanes, high)


def _operator(function: Callable[..., Any], name: str) -> None:
    """Define an operator for lanes on both sides, or for lanes and a number."""

    def code(_context: Any, builder: Any, signature: Any, arguments: Any) -> Any:
        a, b = (
            value if kind == _LANES else _in_every_lane(builder, value)
            for value, kind in zip(arguments, signature.args, strict=True)
        )
        return getattr(builder, name)(a, b)

    cases = [signature(_LANES, a, b) for a, b in ((_LANES, _LANES), (_LANES, types.float64), (types.float64, _LANES))]
    infer_global(function)(type(f"_{name}", (ConcreteTemplate,), {"cases": cases}))
    for case in cases:
        lower_builtin(function, *case.args)(code)


for _function, _name in (
    (operator.add, "fadd"), (operator.sub, "fsub"), (operator.mul, "fmul"), (operator.truediv, "fdiv"),
):  # fmt: skip
    _operator(_function, _name)


def _place(context: Any, builder: Any, kind: Any, array: Any, first: Any) -> Any:
    data = cgutils.create_struct_proxy(kind)(context, builder, array).data
    return builder.bitcast(builder.gep(data, [first]), _FLOATS.as_pointer())


@intrinsic
def load(_context: Any, array: Any, first: Any) -> Any:
    """Return ``array[first : first + WIDTH]``, of a contiguous array."""

    def code(context: Any, builder: Any, signature: Any, arguments: Any) -> Any:
        lanes = builder.load(_place(context, builder, signature.args[0], *arguments))
        lanes.align = 8
        return lanes

    return _LANES(array, first), code


@intrinsic
def store(_context: Any, array: Any, first: Any, lanes: Any) -> Any:
    """Set ``array[first : first + WIDTH]``, of a contiguous array."""

    def code(context: Any, builder: Any, signature: Any, arguments: Any) -> Any:
        builder.store(arguments[2], _place(context, builder, signature.args[0], *arguments[:2])).align = 8
        return context.get_dummy_value()

    return types.void(array, first, lanes), code


@intrinsic
def add_two(_context: Any, sums: Any, i: Any, values: Any, j: Any) -> Any:
    """Add ``values[j]`` to ``sums[i]``, of contiguous arrays of shape (…, 2), as one number of 128 bits."""
    two = ir.VectorType(ir.DoubleType(), 2)

    def code(context: Any, builder: Any, signature: Any, arguments: Any) -> Any:
        to, added = (
            builder.bitcast(_place(context, builder, kind, array, builder.shl(row, row.type(1))), two.as_pointer())
            for kind, array, row in zip(signature.args[::2], arguments[::2], arguments[1::2], strict=True)
        )
        terms = [builder.load(place) for place in (to, added)]
        for term in terms:
            term.align = 8
        builder.store(builder.fadd(*terms), to).align = 8
        return context.get_dummy_value()

    return types.void(sums, i, values, j), code


@intrinsic
def lowest_bit(_context: Any, bits: Any) -> Any:  # noqa: ARG001 (as above)
    """Return the place of the lowest bit that is 1 in a uint64 that is not 0."""

    def code(_context: Any, builder: Any, _its: Any, arguments: Any) -> Any:
        return builder.cttz(arguments[0], ir.Constant(ir.IntType(1), 1))

    return types.uint64(types.uint64), code


@intrinsic
def broadcast(_context: Any, value: Any) -> Any:  # noqa: ARG001 (as above)
    """Return a float64 in every lane."""

    def code(_context: Any, builder: Any, _its: Any, arguments: Any) -> Any:
        return _in_every_lane(builder, arguments[0])

    return _LANES(types.float64), code


@intrinsic
def first_lanes(_context: Any, n: Any, lanes: Any, otherwise: Any) -> Any:  # noqa: ARG001 (as above)
    """Return the first n of some lanes, and the lanes (or the float64) `otherwise` in the rest."""

    def code(_context: Any, builder: Any, signature: Any, arguments: Any) -> Any:
        count, values, rest = arguments
        inside = builder.icmp_signed("<", ir.Constant(_INTS, list(range(WIDTH))), _in_every_lane(builder, count))
        return builder.select(inside, values, rest if signature.args[2] == _LANES else _in_every_lane(builder, rest))

    return _LANES(types.int64, lanes, _LANES if otherwise == _LANES else types.float64), code


@intrinsic
def power_of_two(_context: Any, value: Any) -> Any:
    """Return 2^k for k + 1.5 · 2^52, of a float64 or of lanes; -1022 <= k <= 1023."""

    def code(context: Any, builder: Any, signature: Any, arguments: Any) -> Any:
        kind = context.get_value_type(signature.args[0])
        ints, count = (_INTS, WIDTH) if signature.args[0] == _LANES else (ir.IntType(64), 0)
        bias, bits = (ir.Constant(ints, [number] * count if count else number) for number in (1023, 52))
        return builder.bitcast(builder.shl(builder.add(builder.bitcast(arguments[0], ints), bias), bits), kind)

    return value(value), code


def _parts(builder: Any, kind: Any, value: Any) -> tuple[Any, Any, Any]:
    """Return the bits of k and m of value = 2^k m > 0 with m from √½ to √2, and a maker of integer constants."""
    ints, count = (_INTS, WIDTH) if kind == _LANES else (ir.IntType(64), 0)

    def every(number: int) -> Any:
        return ir.Constant(ints, [number] * count if count else number)

    bits = builder.bitcast(value, ints)
    k = builder.ashr(builder.sub(bits, every(_SQRT_HALF)), every(52))
    return k, builder.sub(bits, builder.shl(k, every(52))), every


@intrinsic
def mantissa(_context: Any, value: Any) -> Any:
    """Return m of 2^k m > 0 with m from √½ to √2, of a float64 or of lanes."""

    def code(context: Any, builder: Any, signature: Any, arguments: Any) -> Any:
        _, m, _ = _parts(builder, signature.args[0], arguments[0])
        return builder.bitcast(m, context.get_value_type(signature.args[0]))

    return value(value), code


@intrinsic
def exponent(_context: Any, value: Any) -> Any:
    """Return k + 1.5 · 2^52 of 2^k m > 0 with m from √½ to √2, of a float64 or of lanes."""

    def code(context: Any, builder: Any, signature: Any, arguments: Any) -> Any:
        k, _, every = _parts(builder, signature.args[0], arguments[0])
        return builder.bitcast(builder.add(k, every(_HELD)), context.get_value_type(signature.args[0]))

    return value(value), code


@intrinsic
def absolute(_context: Any, lanes: Any) -> Any:
    """Return the absolute value of each lane."""

    def code(_context: Any, builder: Any, _its: Any, arguments: Any) -> Any:
        without = builder.and_(builder.bitcast(arguments[0], _INTS), ir.Constant(_INTS, [2**63 - 1] * WIDTH))
        return builder.bitcast(without, _FLOATS)

    return _LANES(lanes), code


@intrinsic
def where_positive(_context: Any, lanes: Any, a: Any, b: Any) -> Any:
    """Return, lane by lane, a where `lanes` is above 0, else b."""

    def code(_context: Any, builder: Any, _its: Any, arguments: Any) -> Any:
        values, yes, no = arguments
        return builder.select(builder.fcmp_ordered(">", values, ir.Constant(_FLOATS, [0.0] * WIDTH)), yes, no)

    return _LANES(lanes, a, b), code


def _select(than: str) -> Any:
    @intrinsic
    def select(_context: Any, a: Any, b: Any) -> Any:
        def code(_context: Any, builder: Any, _its: Any, arguments: Any) -> Any:
            return builder.select(builder.fcmp_ordered(than, *arguments), *arguments)

        return _LANES(a, b), code

    return select


def _fold(of_two: Callable[..., Any]) -> Any:
    @intrinsic
    def fold(_context: Any, lanes: Any) -> Any:
        def code(_context: Any, builder: Any, _its: Any, arguments: Any) -> Any:
            left = arguments[0]
            while left.type.count > 1:
                left = of_two(builder, *_halves(builder, left))
            return builder.extract_element(left, _INDEX(0))

        return types.float64(lanes), code

    return fold


larger, smaller = _select(">"), _select("<")
sum_of = _fold(lambda builder, a, b: builder.fadd(a, b))
largest_of = _fold(lambda builder, a, b: builder.select(builder.fcmp_ordered(">", a, b), a, b))
least_of = _fold(lambda builder, a, b: builder.select(builder.fcmp_ordered("<", a, b), a, b))
