// Indexing as in NumPy and PyTorch: by integers, slices, an index tensor or a mask.
//
//   PyTorch                      here
//   x[0, 1:3]                    Index(x, {0, Slice(1, 3)})
//   x[:, ::2], x[1:, :-1]        Index(x, {Slice(), Slice({}, {}, 2)}), {Slice(1), Slice({}, -1)}
//   x[..., 0], x[:, None]        Index(x, {kEllipsis, 0}), {Slice(), kNewAxis}
//   x[mask], x[:, index]         Index(x, {mask}), {Slice(), index}
//   x[0, 1:3] = y, x[mask] = 0   Assign(x, {0, Slice(1, 3)}, y), Assign(x, {mask}, 0)
#pragma once

#include <concepts>
#include <optional>
#include <type_traits>
#include <variant>
#include <vector>

#include "autograd/variable.h"

namespace torus::ops {

// start, start + step, ... up to, not including, stop. Negative bounds count from the end, bounds
// beyond the ends stand for the ends, as in Python. Throws BadInput for a step below 1; ops::Flip
// reverses.
struct Slice {
  explicit Slice(std::optional<int64_t> start = {}, std::optional<int64_t> stop = {},
                 int64_t step = 1);
  std::optional<int64_t> start, stop;  // as they were given
  int64_t step;
};

// As many whole dimensions as the other items leave; at most one in an index. Without it they come
// last.
struct Ellipsis {};
inline constexpr Ellipsis kEllipsis{};  // the one to write in an index

// A new dimension of size 1 (NumPy's newaxis, Python's None).
struct NewAxis {};
inline constexpr NewAxis kNewAxis{};  // the one to write in an index

// One place of an index.
class IndexItem {
 public:
  // Drops a dimension; a negative one counts from the end.
  template <class Int>
  requires(std::integral<Int> && !std::same_as<Int, bool>) IndexItem(Int at)
      : value_(static_cast<int64_t>(at)) {}  // NOLINT: converts on purpose
  // Keeps a dimension.
  IndexItem(Slice slice) : value_(slice) {}  // NOLINT
  // Keeps several.
  IndexItem(Ellipsis all) : value_(all) {}  // NOLINT
  // Adds one.
  IndexItem(NewAxis axis) : value_(axis) {}  // NOLINT
  // i64 or i32 of any shape, which replaces one dimension; negative values count from the end. Or a
  // bool mask of the shape of as many dimensions as it has, which become one: that of the elements
  // where it holds, in row-major order. On any device; it is copied to the input's.
  IndexItem(Tensor tensor) : value_(std::move(tensor)) {}  // NOLINT
  IndexItem(const Variable& tensor)
      : value_(tensor.defined() ? tensor.data() : Tensor()) {}  // NOLINT

  using Value = std::variant<int64_t, Slice, Ellipsis, NewAxis, Tensor>;  // what an item may be
  const Value& value() const { return value_; }                           // which of them it is

 private:
  Value value_;
};

// The elements that the index names. At most one item is a tensor. Without one the result is a
// view, of any dtype, which shares the input's memory. With one it is a copy, and dimensions keep
// their places, as PyTorch's do (NumPy moves them to the front where an integer and an index tensor
// are apart). An element that is named several times gets the sum of their gradients. A mask's
// elements are counted, so it waits for a GPU, and is refused on meta. Throws BadInput for more
// items than dimensions, integers and index values outside of their dimension, two tensors, and a
// mask of another shape.
Variable Index(const Variable& input, const std::vector<IndexItem>& index);
Tensor Index(const Tensor& input, const std::vector<IndexItem>& index);

// Writes the values, which broadcast and are cast like Copy's, to the elements that the index names
// in the tensor's memory; its version increases. If an index tensor names an element more than
// once, the last value stays. Errors as for Index, and BadInput for values that do not broadcast.
void Assign(Tensor& tensor, const std::vector<IndexItem>& index, const Tensor& values);
void Assign(Tensor& tensor, const std::vector<IndexItem>& index, double value);

}  // namespace torus::ops
