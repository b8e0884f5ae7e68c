// What the kernels of SGD and Adam share: arithmetic that no compiler fuses, Adam's formula, and a
// launch over the parameters of one type. Include it only in .cu files.
#pragma once

#include <cmath>
#include <string_view>
#include <vector>

#include "parallel/optim/cuda/multi_tensor.h"
#include "parallel/optim/update_items.h"
#include "runtime/error.h"
//
#include "runtime/cuda/pack_floats.h"

namespace torus::parallel::cuda {

__device__ inline float FusedMultiplyAdd(float a, float b, float c) { return fmaf(a, b, c); }
__device__ inline double FusedMultiplyAdd(double a, double b, double c) { return fma(a, b, c); }

__device__ inline float Root(float x) { return sqrtf(x); }
__device__ inline double Root(double x) { return sqrt(x); }

// Each operation is rounded separately; the compiler must not fuse them.
__device__ inline float Product(float a, float b) { return __fmul_rn(a, b); }
__device__ inline double Product(double a, double b) { return __dmul_rn(a, b); }

// Writes a parameter, and with it its copy in 16 bits, which may be null.
template <class T, class Low>
__device__ void WriteBoth(int64_t i, T value, T* parameter, Low* low) {
  parameter[i] = value;
  const torus::cuda::Wide<float, 1> rounded{static_cast<float>(value)};
  if (low != nullptr) torus::cuda::WriteRounded(rounded, low + i);
}

// Adam's moments by number: mean, variance and largest variance.
inline constexpr int kMoments = 3;

// The formulas of adam_kernel.h.
template <class T>
struct AdamFormula {
  const AdamConstants<T>& c;

  // Updates the moments of an element, the last only where it is kept; returns its new parameter.
  __device__ T Step(T parameter, T gradient, bool keeps_largest, T (&moment)[kMoments]) const {
    const T p = Decayed(parameter), g = Gradient(gradient, p);
    moment[0] = Mean(moment[0], g);
    moment[1] = Variance(moment[1], g);
    if (keeps_largest) moment[2] = Larger(moment[2], moment[1]);
    return Parameter(p, moment[0], keeps_largest ? moment[2] : moment[1]);
  }

 private:
  __device__ T Decayed(T p) const { return c.decays && c.decoupled ? Product(p, c.decay) : p; }
  __device__ T Gradient(T gradient, T p) const {
    const T g = Product(gradient, c.scale);
    return c.decays && !c.decoupled ? FusedMultiplyAdd(p, c.decay, g) : g;
  }
  __device__ T Mean(T m, T g) const {
    const T difference = g - m;
    return c.rest1 < T(0.5) ? FusedMultiplyAdd(difference, c.rest1, m)
                            : FusedMultiplyAdd(-difference, c.beta1, g);
  }
  __device__ T Variance(T v, T g) const {
    return FusedMultiplyAdd(Product(g, c.rest2), g, Product(v, c.beta2));
  }
  // In this order NaN passes.
  __device__ static T Larger(T largest, T v) { return largest > v ? largest : v; }
  __device__ T Parameter(T p, T m, T v) const {
    const T denominator = FusedMultiplyAdd(Root(v), c.correction, c.eps);
    return p + Product(m, c.size) / denominator;
  }
};

// Runs the body over the items that `chosen` takes; entry_of(item, constants) makes their entries.
// A recorded graph reads the scalars again before each launch.
template <class Entry, class Item, class Scalars, class Chosen, class EntryOf, class Body>
void StepOf(std::string_view op, std::vector<Item>& items, const StepScalars<Scalars>& scalars,
            const Chosen& chosen, const EntryOf& entry_of, const Body& body, StreamHandle stream) {
  using Constants = typename Entry::Constants;
  std::vector<size_t> places;
  for (size_t i = 0; i < items.size(); ++i)
    if (chosen(items[i])) places.push_back(i);
  if (places.empty()) return;
  const Device device = items.front().parameter.device();
  const auto make = [op, scalars, places, count = items.size()] {
    Require(scalars->size() == count, op,
            "a recorded update of {} parameters was prepared for {} with a gradient", count,
            scalars->size());
    std::vector<Constants> constants;
    for (const size_t i : places) constants.emplace_back((*scalars)[i]);
    return constants;
  };
  const Tensor there = torus::cuda::HandOverAnew<Constants>(op, make, device, stream);
  const Constants* constants = torus::cuda::HandedOver<Constants>(there);
  std::vector<Entry> entries;
  for (const size_t i : places) entries.push_back(entry_of(items[i], constants++));
  ForEachPiece(op, entries, device, stream, body);
}

// The type of the item's copy in 16 bits; bf16 if there is none.
template <class Item>
DType LowTypeOf(const Item& item) {
  return item.low.defined() ? item.low.dtype() : DType::kBF16;
}

}  // namespace torus::parallel::cuda
