#include "runtime/shape.h"

#include <algorithm>

#include "runtime/error.h"

namespace torus {

Dims::Dims(std::span<const int64_t> values) : rank_(static_cast<int>(values.size())) {
  Require(values.size() <= kMaxRank, "shape", "at most {} dimensions, got {}", kMaxRank,
          values.size());
  std::copy(values.begin(), values.end(), values_.begin());
}

Dims Dims::Filled(int rank, int64_t value) {
  Dims dims;
  for (int i = 0; i < rank; ++i) dims.push_back(value);
  return dims;
}

void Dims::push_back(int64_t value) {
  Require(rank_ < kMaxRank, "shape", "at most {} dimensions", kMaxRank);
  values_[rank_++] = value;
}

std::string ToString(const Dims& dims) {
  return fmt::format("({})", fmt::join(dims.begin(), dims.end(), ", "));
}

int64_t Numel(const Shape& shape) {
  int64_t n = 1, bound = 1;
  bool overflow = false;
  for (int64_t size : shape) {
    overflow |= __builtin_mul_overflow(n, size, &n);
    // Strides are products of sizes too, and a size of 0 does not make all of them small.
    overflow |= __builtin_mul_overflow(bound, std::max<int64_t>(size, 1), &bound);
  }
  Require(!overflow, "shape", "{} has more elements than can be counted", shape);
  return n;
}

Strides ContiguousStrides(const Shape& shape) {
  Strides strides = shape;
  int64_t step = 1;
  for (int i = shape.rank() - 1; i >= 0; --i) {
    strides[i] = step;
    step *= shape[i];
  }
  return strides;
}

int NormalizeDim(std::string_view op, int64_t dim, int rank) {
  const int bound = std::max(rank, 1);
  Require(dim >= -bound && dim < bound, op, "dimension {} is outside of [{}, {}]", dim, -bound,
          bound - 1);
  return static_cast<int>(dim < 0 ? dim + bound : dim);
}

Shape BroadcastShapes(std::string_view op, const Shape& a, const Shape& b) {
  const int rank = std::max(a.rank(), b.rank());
  Shape out = Dims::Filled(rank, 1);
  for (int i = 1; i <= rank; ++i) {
    const int64_t x = i <= a.rank() ? a[a.rank() - i] : 1;
    const int64_t y = i <= b.rank() ? b[b.rank() - i] : 1;
    Require(x == y || x == 1 || y == 1, op, "shapes do not broadcast: {} and {}", a, b);
    out[rank - i] = x == 1 ? y : x;
  }
  return out;
}

Shape ResolveShape(std::string_view op, const Shape& wanted, int64_t numel) {
  Shape out = wanted;
  int unknown = -1;
  for (int i = 0; i < wanted.rank(); ++i) {
    Require(wanted[i] >= -1 && (wanted[i] >= 0 || unknown < 0), op,
            "shape {} needs sizes >= 0 and at most one -1", wanted);
    if (wanted[i] < 0) unknown = i;
  }
  if (unknown >= 0) out[unknown] = 1;
  const int64_t known = Numel(out);
  if (unknown >= 0 && known > 0) out[unknown] = numel / known;
  Require(Numel(out) == numel && (unknown < 0 || known > 0), op,
          "shape {} does not hold {} elements", wanted, numel);
  return out;
}

}  // namespace torus
