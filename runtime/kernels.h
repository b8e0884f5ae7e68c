// The raw kernels that every layer needs, behind a door of their own: they run where their tensors
// lie. All check their arguments.
#pragma once

#include "runtime/tensor.h"

namespace torus {

// Sets every element of a tensor (strided too) to `value`, cast to its dtype.
void Fill(Tensor& out, double value);

// Copies `in` into `out`, element by element: same shape, any strides, any dtypes (cast as C++
// does; float to integer truncates). BadInput when the shapes differ. A copy to or from a CPU's
// memory is done when the call returns; between GPUs and within one it is in their current streams'
// order.
void Copy(const Tensor& in, Tensor& out);

// Moves the memory of `tensor`, and so all tensors that share it, to `device`; nothing else may use
// it meanwhile. Does nothing where it is there already. BadInput from or to meta.
void MoveMemory(const Tensor& tensor, Device device);

// The bytes of memory that need not be a tensor's, on any two devices, in the current streams'
// order; done when the call returns.
void CopyMemory(const void* from, Device from_device, void* to, Device to_device, size_t bytes);

// out += in. Same shape and dtype (f64, f32, bf16, f16, i64, i32), both contiguous. The 16-bit
// floats are added as f32 and rounded once.
void AddInPlace(Tensor& out, const Tensor& in);

// out *= factor. f64 or f32, contiguous.
void ScaleInPlace(Tensor& out, double factor);

// Element i of a contiguous tensor becomes i, cast to its dtype.
void Count(Tensor& out);

}  // namespace torus
