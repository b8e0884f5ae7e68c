// The raw kernels that every layer needs. They run on the device where their tensors lie, and check
// their arguments.
#pragma once

#include "runtime/tensor.h"

namespace torus {

// Sets every element of a tensor, which may be strided, to `value`, cast to its dtype.
void Fill(Tensor& out, double value);

// Copies `in` to `out`, element by element: same shape, any strides, any dtypes (cast like C++;
// float to integer truncates). Throws BadInput if the shapes differ. A copy from or to CPU memory
// is complete when the call returns; a copy within or between GPUs follows the order of their
// current streams.
void Copy(const Tensor& in, Tensor& out);

// Moves the storage of `tensor`, and so all tensors that share it, to `device`. Nothing else may
// use it meanwhile. Does nothing if it is already there. Throws BadInput from or to meta.
void MoveMemory(const Tensor& tensor, Device device);

// Copies bytes between any two devices, in the order of their current streams; the memory need not
// belong to a tensor. The copy is complete when the call returns.
void CopyMemory(const void* from, Device from_device, void* to, Device to_device, size_t bytes);

// out += in. Same shape and dtype (f64, f32, bf16, f16, i64, i32), both contiguous. 16-bit floats
// are added in f32 and rounded once.
void AddInPlace(Tensor& out, const Tensor& in);

// out *= factor. f64 or f32, contiguous.
void ScaleInPlace(Tensor& out, double factor);

// Sets element i of a contiguous tensor to i, cast to its dtype.
void FillArange(Tensor& out);

}  // namespace torus
