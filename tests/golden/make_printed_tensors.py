"""Makes printed_tensors.safetensors: tensors, and in its metadata how PyTorch prints them.

Needs torch==2.15.0, safetensors. The metadata has the text of each tensor under its name. dtypes have our names.
"""
import math
import os

import torch
from safetensors.torch import save_file

assert torch.__version__.split("+")[0] == "2.15.0", torch.__version__

NAMES = {"float64": "f64", "float32": "f32", "bfloat16": "bf16", "float16": "f16", "int64": "i64", "int32": "i32",
         "uint8": "u8", "bool": "bool"}
INF, NAN = math.inf, math.nan


def counting(*shape, dtype=torch.float32):
    return torch.arange(math.prod(shape), dtype=torch.float64).reshape(shape).to(dtype)


def noise(*shape, dtype=torch.float32):
    return torch.randn(shape, generator=torch.Generator().manual_seed(1), dtype=torch.float64).to(dtype)


CASES = {
    "whole": torch.tensor([1.0, 2.0, -30.0]),
    "digits": torch.tensor([[1.0, 2.5], [-100.25, 3.14159265]]),
    "rounding": torch.tensor([0.00005, 0.12345, 0.99995, 999.99995]),
    "small": torch.tensor([1e-5, 1e-6]),
    "wide": torch.tensor([1.5, 20000.25]),
    "wide whole": torch.tensor([1.0, 2000.0, -5.0]),
    "large whole": torch.tensor([3e8, 1e8]),
    "at the bounds": torch.tensor([0.0001, 0.1]),
    "not a number": torch.tensor([NAN, INF, -INF, 1.0]),
    "not a number, digits": torch.tensor([NAN, 0.5, -INF]),
    "not a number, scientific": torch.tensor([NAN, 1e-9, 0.0, INF]),
    "nothing finite": torch.tensor([NAN, 0.0, INF]),
    "zeros": torch.zeros(2, 3),
    "negative zero": torch.tensor([-0.0, 0.25]),
    "scalar": torch.tensor(2.5),
    "scalar whole": torch.tensor(7.0),
    "scalar int": torch.tensor(-7),
    "scalar bool": torch.tensor(True),
    "scalar f64": torch.tensor(0.1, dtype=torch.float64),
    "ints": torch.tensor([[1, -200], [30, 4]]),
    "i32": torch.tensor([1, 2], dtype=torch.int32),
    "u8": torch.tensor([1, 255], dtype=torch.uint8),
    "bools": torch.tensor([True, False]),
    "all true": torch.tensor([[True], [True]]),
    "largest ints": torch.tensor([2**63 - 1, -2**63]),
    "f64": noise(2, 3, dtype=torch.float64),
    "bf16": noise(5, dtype=torch.bfloat16),
    "f16": noise(5, dtype=torch.float16),
    "empty": torch.zeros(0),
    "empty matrix": torch.zeros(2, 0),
    "empty ints": torch.zeros(0, dtype=torch.int64),
    "empty ints, 3 dimensions": torch.zeros(0, 4, 2, dtype=torch.int64),
    "empty bools": torch.zeros(0, dtype=torch.bool),
    "long row": noise(40),
    "long row of ints": counting(100, dtype=torch.int64),
    "long row of bools": counting(30).remainder(3).eq(0),
    "matrix of long rows": noise(2, 13) * 50,
    "three dimensions": noise(2, 2, 3),
    "four dimensions": counting(2, 1, 2, 2, dtype=torch.int64),
    "f64, the dtype on a line of its own": noise(3, 6, dtype=torch.float64),
    "f64, seven in a line": noise(7, dtype=torch.float64),
    "f64, eight in a line": noise(8, dtype=torch.float64) * 0.001,
    "1000 elements": counting(10, 100),
    "1001 elements": counting(1001),
    "large": noise(34, 30),
    "large, short rows": counting(260, 4, dtype=torch.int64),
    "large, short columns": noise(5, 201),
    "large, three dimensions": counting(8, 18, 7) / 8,
    "large bools": counting(40, 40).remainder(2).eq(1),
    "large f64": noise(1001, dtype=torch.float64),
    "large, hidden outlier": torch.cat([noise(600), torch.tensor([1e9]), noise(600)]),
}


def with_our_names(suffix):
    theirs = suffix.removeprefix("dtype=torch.")
    return "dtype=" + NAMES[theirs] if theirs != suffix else suffix


# The names have other lengths, on which the place of the line's end depends.
add_suffixes = torch._tensor_str._add_suffixes
torch._tensor_str._add_suffixes = lambda text, suffixes, *rest, **named: add_suffixes(
    text, [with_our_names(suffix) for suffix in suffixes], *rest, **named)



path = os.path.join(os.path.dirname(os.path.abspath(__file__)), "printed_tensors.safetensors")
save_file({name: tensor.contiguous() for name, tensor in CASES.items()}, path,
          metadata={name: repr(tensor) for name, tensor in CASES.items()})
