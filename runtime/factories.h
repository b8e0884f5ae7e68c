// Tensors of given values, as the torch functions of these names. Empty, Zeros, Full, Arange(count)
// and FromVector are in runtime/tensor.h.
#pragma once

#include <concepts>
#include <functional>
#include <initializer_list>
#include <optional>
#include <type_traits>
#include <vector>

#include "runtime/tensor.h"

namespace torus {

// Contiguous, with ones everywhere.
Tensor Ones(const Shape& shape, DType dtype = DType::kF32, Device device = {});

// Of the shape, dtype and device of `like`; contiguous.
Tensor EmptyLike(const Tensor& like);
Tensor ZerosLike(const Tensor& like);
Tensor OnesLike(const Tensor& like);
Tensor FullLike(const Tensor& like, double value);

// (rows, columns) with ones on the diagonal; square if columns are left out.
Tensor Eye(int64_t rows, std::optional<int64_t> columns = {}, DType dtype = DType::kF32,
           Device device = {});

// `steps` numbers at equal distances from start to end, both included (one step: start). Computed
// in f64 and rounded, by truncation to an integer type.
Tensor Linspace(double start, double end, int64_t steps, DType dtype = DType::kF32,
                Device device = {});

// start, start + step, ... before `end`. Throws BadInput for a step of 0 and one that leads away
// from the end.
Tensor ArangeOf(int64_t start, int64_t end, int64_t step, DType dtype, Device device);
Tensor ArangeOf(double start, double end, double step, DType dtype, Device device);

template <class T>
concept Number = std::is_arithmetic_v<T>;
// By default i64 if all numbers are integers, else f32: Arange(2, 10), Arange(0, 1, 0.1).
template <Number Start, Number End, Number Step = int64_t>
Tensor Arange(Start start, End end, Step step = 1, std::optional<DType> dtype = {},
              Device device = {}) {
  constexpr bool kWhole = std::integral<Start> && std::integral<End> && std::integral<Step>;
  using Exact = std::conditional_t<kWhole, int64_t, double>;
  return ArangeOf(static_cast<Exact>(start), static_cast<Exact>(end), static_cast<Exact>(step),
                  dtype.value_or(kWhole ? DType::kI64 : DType::kF32), device);
}

// What FromBlob is told of the memory.
struct BlobOptions {
  std::optional<Strides> strides = {};      // in elements, at least 0; contiguous if left out
  std::function<void(void*)> deleter = {};  // called once, with `data`, after the last use
  Device device = {};                       // where the memory lies: the CPU or a GPU
};
// A tensor of the caller's memory, which is not copied and must outlast the tensor and its views,
// or is freed by the deleter. Throws BadInput for memory that is null or not aligned to its
// elements, for other strides, and for meta; the deleter is then not called.
Tensor FromBlob(void* data, const Shape& shape, DType dtype = DType::kF32,
                const BlobOptions& options = {});

// Numbers in nested braces, for TensorOf.
class NestedNumbers {
 public:
  template <Number T>
  NestedNumbers(T value)  // NOLINT: converts on purpose
      : kind_(std::same_as<T, bool> ? kTruth
              : std::integral<T>    ? kWhole
                                    : kReal),
        real_(static_cast<double>(value)),
        whole_(std::integral<T> ? static_cast<int64_t>(value) : 0) {}
  NestedNumbers(std::initializer_list<NestedNumbers> list) : kind_(kList), list_(list) {}  // NOLINT

 private:
  friend Tensor TensorOf(const NestedNumbers& numbers, std::optional<DType> dtype);
  friend struct NumbersReader;
  enum Kind { kTruth, kWhole, kReal, kList };
  Kind kind_;
  double real_ = 0;
  int64_t whole_ = 0;
  std::vector<NestedNumbers> list_;
};
// A CPU tensor, as torch.tensor of nested lists: TensorOf({{1, 2}, {3, 4}}). By default bool or i64
// if all are of such types, else f32. Throws BadInput for lists of different lengths.
Tensor TensorOf(const NestedNumbers& numbers, std::optional<DType> dtype = {});

}  // namespace torus
