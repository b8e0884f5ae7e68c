// Shapes and strides: small inline lists of at most kMaxRank signed sizes.
#pragma once

#include <fmt/format.h>

#include <array>
#include <cstdint>
#include <initializer_list>
#include <span>
#include <string>
#include <string_view>

namespace torus {

inline constexpr int kMaxRank = 8;  // dimensions that a tensor may have

// A list of up to kMaxRank int64 values, held inline. Shape and Strides are both one.
class Dims {
 public:
  Dims() = default;
  Dims(std::initializer_list<int64_t> values) : Dims(std::span(values.begin(), values.size())) {}
  explicit Dims(std::span<const int64_t> values);  // BadInput beyond kMaxRank
  static Dims Filled(int rank, int64_t value);     // `rank` times `value`; BadInput beyond kMaxRank

  int rank() const { return rank_; }                      // how many values it has
  int64_t operator[](int i) const { return values_[i]; }  // value i, not checked
  int64_t& operator[](int i) { return values_[i]; }       // value i, not checked
  // Of the values; end() is behind the last.
  const int64_t* begin() const { return values_.data(); }
  const int64_t* end() const { return values_.data() + rank_; }
  void push_back(int64_t value);  // BadInput beyond kMaxRank
  // Whether both have the same values.
  friend bool operator==(const Dims& a, const Dims& b) {
    return std::span(a.begin(), a.end()).size() == std::span(b.begin(), b.end()).size() &&
           std::equal(a.begin(), a.end(), b.begin());
  }

 private:
  std::array<int64_t, kMaxRank> values_{};
  int rank_ = 0;
};

using Shape = Dims;
using Strides = Dims;  // in elements, one for each dimension

// "(2, 3)"; "()" for a scalar.
std::string ToString(const Dims& dims);

// Product of the sizes; 1 for a scalar. Throws BadInput if it, or a stride, overflows int64.
int64_t Numel(const Shape& shape);

// Row-major strides, in elements.
Strides ContiguousStrides(const Shape& shape);

// Maps a possibly negative dimension (-1 is the last) to 0..rank-1. Throws BadInput tagged `op` if
// it is out of range. A scalar (rank 0) accepts -1 and 0, as in PyTorch.
int NormalizeDim(std::string_view op, int64_t dim, int rank);

// Broadcasts two shapes by NumPy's rules. Throws BadInput tagged `op` if they are incompatible.
Shape BroadcastShapes(std::string_view op, const Shape& a, const Shape& b);

// Replaces one -1 in `wanted` so that the product of the sizes is `numel`. Throws BadInput tagged
// `op` if that is impossible.
Shape ResolveShape(std::string_view op, const Shape& wanted, int64_t numel);

}  // namespace torus

// Formats a shape like ToString.
template <>
struct fmt::formatter<torus::Dims> : fmt::formatter<std::string> {
  template <class Context>
  auto format(const torus::Dims& dims, Context& context) const {
    return fmt::formatter<std::string>::format(torus::ToString(dims), context);
  }
};
