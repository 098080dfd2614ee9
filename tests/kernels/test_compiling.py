"""What the decorators of kernels promise of compiling: each function is optimised once, Python is left as it was."""

import gc
import math

import numba
import numpy as np
import pytest
from numba.core.codegen import JITCodeLibrary

from boostplug.kernels import compiling
from boostplug.kernels.compiling import compiled, inner


@pytest.fixture
def of_no_file(monkeypatch):
    """Let kernels of this test be compiled anew, and leave no files."""
    monkeypatch.setattr(compiling, "_Cache", lambda _function: (_ for _ in ()).throw(RuntimeError("none")))


@pytest.fixture
def made(monkeypatch):
    """Return the names of the functions of which LLVM makes machine code from here on."""
    names = []
    finalize = JITCodeLibrary._finalize_specific

    def noted(self):
        names.append(self.name)
        finalize(self)

    monkeypatch.setattr(JITCodeLibrary, "_finalize_specific", noted)
    return names


@pytest.mark.usefixtures("of_no_file")
def test_an_inner_function_is_a_part_of_its_callers_alone(made):
    @inner()
    def root(x):
        return math.sqrt(x)

    @inner()
    def fourth_root(x):
        return root(root(x))

    @compiled()
    def sum_of_roots(x):
        return root(x) + fourth_root(x)

    @compiled()
    def difference(x):
        return root(x) - fourth_root(x)

    assert sum_of_roots(16.0) == 4.0 + 2.0
    assert difference(16.0) == 4.0 - 2.0
    ours = [name for name in made if "test_an_inner" in name]
    assert [name.rpartition(".")[2] for name in ours] == ["sum_of_roots", "difference"]


@pytest.mark.usefixtures("of_no_file")
def test_errors_pass_through_inner_functions():
    @inner()
    def ratio(x, y):
        if y < 0.0:
            raise ValueError("negative")
        return x / y

    @compiled()
    def twice_the_ratio(x, y):
        return 2.0 * ratio(x, y)

    assert twice_the_ratio(1.0, 2.0) == 1.0
    with pytest.raises(ZeroDivisionError):
        twice_the_ratio(1.0, 0.0)
    with pytest.raises(ValueError, match="negative"):
        twice_the_ratio(1.0, -1.0)


@pytest.mark.usefixtures("of_no_file")
def test_an_inner_function_may_make_arrays_where_it_says_so():
    @inner(_nrt=True)
    def squares(n):
        return np.arange(n) ** 2

    @compiled()
    def sum_of_squares(n):
        total = 0
        for _ in range(3):
            total += squares(n).sum()
        return total

    assert sum_of_squares(4) == 3 * (1 + 4 + 9)


@pytest.mark.usefixtures("of_no_file")
def test_python_cannot_call_an_inner_function():
    @inner()
    def half(x):
        return 0.5 * x

    @compiled()
    def quarter(x):
        return half(half(x))

    for _ in "before it is compiled", "after":
        with pytest.raises(TypeError, match=r"half is compiled into kernels alone; .* half.py_func"):
            half(2.0)
        assert quarter(4.0) == 1.0
    assert half.py_func(2.0) == 1.0


@pytest.mark.usefixtures("of_no_file")
@pytest.mark.parametrize("threshold", [gc.get_threshold(), (100_000, 5, 5), (0, 5, 5)])
def test_garbage_is_collected_as_before_once_all_is_compiled(monkeypatch, threshold):
    seen = []
    compile_function = numba.core.compiler.compile_extra

    def noted(*arguments, **more):
        seen.append(gc.get_threshold()[0])
        return compile_function(*arguments, **more)

    monkeypatch.setattr(numba.core.compiler, "compile_extra", noted)

    @compiled()
    def half(x):
        return 0.5 * x

    @compiled()
    def quarter(x):
        return half(half(x))

    before = gc.get_threshold()
    try:
        gc.set_threshold(*threshold)
        assert quarter(4.0) == 1.0
        assert gc.get_threshold() == threshold
    finally:
        gc.set_threshold(*before)
    assert seen == [compiling._SELDOM if 0 < threshold[0] < compiling._SELDOM else threshold[0]] * 2


def test_numba_may_be_switched_off_for_inner_functions_too(monkeypatch):
    monkeypatch.setattr(numba.config, "DISABLE_JIT", True)
    assert inner()(pytest.approx) is pytest.approx


@pytest.mark.usefixtures("of_no_file")
def test_a_constant_is_no_type_of_its_own():
    @inner()
    def plus(x, n):
        return x + n

    @compiled()
    def times(x, n):
        return x * n

    @compiled()
    def kernel(x):
        n = 0  # the type of n is that of the constant until the loop is seen
        for _ in range(3):
            n += 1
        return plus(x, 0) + plus(x, 1) + plus(x, n) + times(x, 2) + times(x, n)

    assert kernel(1.0) == 1.0 + 2.0 + 4.0 + 2.0 + 3.0
    assert len(plus.signatures) == len(times.signatures) == 1
