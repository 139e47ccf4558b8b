"""Columns of pandas and polars as arguments, and our arrays as columns."""

import gc

import pytest

import samovar as sv


@sv.kernel
def total(x: sv.types.NDArray[sv.f64, 1]) -> sv.f64:
    result = sv.f64(0.0)
    for i in range(x.shape[0]):
        result += x[i]
    return result


@sv.kernel
def clear(x: sv.types.NDArray[sv.f64, 1]):
    for i in range(x.shape[0]):
        x[i] = 0.0


class Column:
    """A column that gives its memory, or a copy of it."""

    dtype = float

    def __init__(self, values, copies):
        self.values, self.copies = values, copies

    def __array__(self, dtype=None, copy=None):
        return self.values.copy() if self.copies else self.values

    def to_numpy(self):
        return self.values


def test_a_column_that_gives_its_memory_is_written_and_a_copy_is_not():
    import numpy as np

    column = Column(np.ones(3), copies=False)
    clear(column)
    assert column.values.tolist() == [0, 0, 0]
    with pytest.raises(sv.SamovarTypeError, match="read-only"):
        clear(Column(np.ones(3), copies=True))
    assert total(Column(np.ones(3), copies=True)) == 3


def test_columns_of_pandas():
    pandas = pytest.importorskip("pandas")
    assert total(pandas.Series([1.0, 2.0, 3.0])) == 6
    assert total(pandas.Series([1.0, 2.0, 3.0, 5.0])[::2]) == 4
    column = pandas.Series([1.0])
    if int(pandas.__version__.split(".")[0]) < 3:  # what is written goes into the column
        clear(column)
        assert column.tolist() == [0.0]
    else:
        with pytest.raises(sv.SamovarTypeError, match="read-only"):
            clear(column)
    with pytest.raises(sv.SamovarTypeError, match="its dtype object is not supported"):
        total(pandas.Series(["text"]))
    assert pandas.Series(sv.arange(3)).tolist() == [0, 1, 2]
    assert pandas.DataFrame({"x": sv.ones(2)})["x"].dtype == "float32"


def test_columns_of_polars():
    polars = pytest.importorskip("polars")
    assert total(polars.Series([1.0, 2.0, 3.0])) == 6
    with pytest.raises(sv.SamovarTypeError, match="read-only"):
        clear(polars.Series([1.0, None]))
    a = sv.arange(3)
    column = polars.Series(a)
    a.fill(9)
    del a
    gc.collect()
    assert column.to_list() == [0, 1, 2]  # columns do not change
    frame = polars.DataFrame({"x": sv.ones(2), "y": sv.array([True, False])})
    assert frame["y"].to_list() == [True, False]
    with pytest.raises(TypeError, match="a column is 1-D"):
        polars.Series(sv.zeros((2, 2)))


def test_capsules_that_nobody_takes_let_go():
    schema, elements = sv.ones(4).__arrow_c_array__()
    assert "arrow_schema" in repr(schema)
    assert "arrow_array" in repr(elements)
