// Integer values that are checked without waiting for the GPU. Only for kernel sources.
#pragma once

#include <utility>

#include "runtime/cuda/elements.h"
#include "runtime/deferred_checks.h"
//
#include "runtime/cuda/for_each.h"

namespace torus::cuda {

// safe[i] = values[i], or `instead` if values[i] is wrong. Lowers *first to the smallest i of a
// wrong value.
template <class IsRight>
struct KeepRight {
  const int64_t* values;
  int64_t instead;
  IsRight is_right;
  int64_t *first, *safe;
  __device__ void operator()(int64_t i) const {
    const bool right = is_right(values[i]);
    safe[i] = right ? values[i] : instead;
    if (!right) atomicMin(reinterpret_cast<long long*>(first), static_cast<long long>(i));
  }
};

// Returns a copy of contiguous i64 values in which `instead` replaces wrong values. `checks` will
// report wrong values by calling `fail`. `is_right` is a device functor that takes a value.
template <class IsRight>
Tensor SafeValues(std::string_view op, const Tensor& values, int64_t instead,
                  const IsRight& is_right, DeferredChecks& checks, DeferredChecks::Fail fail,
                  StreamHandle stream) {
  Tensor safe(values.shape(), DType::kI64, values.device());
  int64_t* const first = checks.Expect({values, std::move(fail)});
  ForEach(op, values.numel(), stream,
          KeepRight<IsRight>{Elements<int64_t>(values), instead, is_right, first,
                             MutableElements<int64_t>(safe)});
  return safe;
}

}  // namespace torus::cuda
