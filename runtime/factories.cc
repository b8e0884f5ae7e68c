#include "runtime/factories.h"

#include <algorithm>
#include <cmath>

#include "runtime/kernels.h"

namespace torus {
namespace {

// Element i is value(i), made on the CPU in the wider type T.
template <class T, class F>
Tensor MadeOf(int64_t count, DType dtype, Device device, const F& value) {
  if (device == kMetaDevice) return Empty({count}, dtype, device);
  Tensor out({count}, kDTypeOf<T>);
  T* const p = out.mutable_data<T>();
  for (int64_t i = 0; i < count; ++i) p[i] = value(i);
  return out.To(dtype).To(device);
}

// Elements from the first to the last one, at offsets of at least 0.
size_t BytesOf(const Shape& shape, const Strides& strides, DType dtype) {
  if (Numel(shape) == 0) return 0;
  int64_t last = 0;
  for (int d = 0; d < shape.rank(); ++d) {
    int64_t reach = 0;
    const bool fits = !__builtin_mul_overflow(shape[d] - 1, strides[d], &reach) &&
                      !__builtin_add_overflow(last, reach, &last) && last < INT64_MAX / 8;
    Require(fits, "from_blob", "strides {} of shape {} reach too far", strides, shape);
  }
  return static_cast<size_t>(last + 1) * SizeOf(dtype);
}

// Frees a caller's memory with the last tensor of it.
struct Blob {
  void* data;
  std::function<void(void*)> deleter;
  ~Blob() {
    if (deleter) deleter(data);
  }
};

}  // namespace

Tensor Ones(const Shape& shape, DType dtype, Device device) {
  return Full(shape, 1, dtype, device);
}

Tensor EmptyLike(const Tensor& like) { return Empty(like.shape(), like.dtype(), like.device()); }
Tensor ZerosLike(const Tensor& like) { return Zeros(like.shape(), like.dtype(), like.device()); }
Tensor OnesLike(const Tensor& like) { return FullLike(like, 1); }
Tensor FullLike(const Tensor& like, double value) {
  return Full(like.shape(), value, like.dtype(), like.device());
}

Tensor Eye(int64_t rows, std::optional<int64_t> columns, DType dtype, Device device) {
  const int64_t width = columns.value_or(rows);
  Tensor out = Zeros({rows, width}, dtype, device);
  Tensor diagonal(out.storage(), {std::min(rows, width)}, {width + 1}, 0, dtype);
  Fill(diagonal, 1);
  return out;
}

// From the nearer end, as PyTorch does, so that the last number is exactly `end`.
Tensor Linspace(double start, double end, int64_t steps, DType dtype, Device device) {
  Require(steps >= 0, "linspace", "needs at least 0 steps, got {}", steps);
  const double step = steps > 1 ? (end - start) / static_cast<double>(steps - 1) : 0;
  return MadeOf<double>(steps, dtype, device, [=](int64_t i) {
    return i < (steps + 1) / 2 ? start + step * static_cast<double>(i)
                               : end - step * static_cast<double>(steps - 1 - i);
  });
}

Tensor ArangeOf(int64_t start, int64_t end, int64_t step, DType dtype, Device device) {
  Require(step != 0, "arange", "needs a step other than 0");
  Require(step > 0 ? start <= end : start >= end, "arange", "steps of {} lead from {} away from {}",
          step, start, end);
  const auto distance =
      static_cast<unsigned __int128>(step > 0 ? __int128{end} - start : __int128{start} - end);
  const auto size = static_cast<unsigned __int128>(step > 0 ? __int128{step} : -__int128{step});
  const auto count = static_cast<uint64_t>((distance + size - 1) / size);
  Require(count <= uint64_t{INT64_MAX}, "arange", "from {} to {} are too many steps of {}", start,
          end, step);
  // Modulo 2^64: the distance from `start` may be beyond 63 bits where the number is not.
  return MadeOf<int64_t>(static_cast<int64_t>(count), dtype, device, [=](int64_t i) {
    return static_cast<int64_t>(static_cast<uint64_t>(start) +
                                static_cast<uint64_t>(i) * static_cast<uint64_t>(step));
  });
}

Tensor ArangeOf(double start, double end, double step, DType dtype, Device device) {
  Require(step != 0 && std::isfinite(start) && std::isfinite(end) && std::isfinite(step), "arange",
          "needs finite numbers and a step other than 0, got {}, {}, {}", start, end, step);
  Require(step > 0 ? start <= end : start >= end, "arange", "steps of {} lead from {} away from {}",
          step, start, end);
  const double count = std::ceil((end - start) / step);
  Require(count < 0x1p60, "arange", "from {} to {} are too many steps of {}", start, end, step);
  return MadeOf<double>(static_cast<int64_t>(count), dtype, device,
                        [=](int64_t i) { return start + step * static_cast<double>(i); });
}

Tensor FromBlob(void* data, const Shape& shape, DType dtype, const BlobOptions& options) {
  const Strides strides = options.strides.value_or(ContiguousStrides(shape));
  Require(strides.rank() == shape.rank() &&
              std::ranges::all_of(shape, [](int64_t size) { return size >= 0; }) &&
              std::ranges::all_of(strides, [](int64_t stride) { return stride >= 0; }),
          "from_blob", "needs sizes and strides of at least 0, got shape {} and strides {}", shape,
          strides);
  Require(options.device != kMetaDevice, "from_blob", "meta has no memory");
  const size_t bytes = BytesOf(shape, strides, dtype);
  Require(bytes == 0 || data != nullptr, "from_blob", "{} needs memory, got a null pointer", shape);
  Require(reinterpret_cast<uintptr_t>(data) % SizeOf(dtype) == 0, "from_blob",
          "memory of {} must be aligned to {} bytes, got {}", Name(dtype), SizeOf(dtype),
          fmt::ptr(data));
  auto owner = std::make_shared<Blob>(data, nullptr);
  auto storage = std::make_shared<Storage>(data, bytes, options.device, owner);
  Tensor out(std::move(storage), shape, strides, 0, dtype);
  owner->deleter = options.deleter;  // from here on, nothing throws
  return out;
}

// Reads nested lists, of which all at one depth have one length.
struct NumbersReader {
  void Read(const NestedNumbers& numbers, int depth) {
    if (numbers.kind_ != NestedNumbers::kList) {
      Require(depth == shape.rank(), "tensor_of", "a number stands beside lists");
      kind = std::max(kind, numbers.kind_);
      reals.push_back(numbers.real_);
      wholes.push_back(numbers.whole_);
      return;
    }
    const auto size = static_cast<int64_t>(numbers.list_.size());
    Require(depth < shape.rank(), "tensor_of", "a list stands beside numbers");
    Require(size == shape[depth], "tensor_of", "lists of {} and of {} stand beside each other",
            shape[depth], size);
    for (const NestedNumbers& inner : numbers.list_) Read(inner, depth + 1);
  }
  void ReadShape(const NestedNumbers& numbers) {
    if (numbers.kind_ != NestedNumbers::kList) return;
    shape.push_back(static_cast<int64_t>(numbers.list_.size()));
    if (!numbers.list_.empty()) ReadShape(numbers.list_.front());
  }
  Tensor Made() const {
    if (reals.empty()) return Empty(shape);
    if (kind == NestedNumbers::kReal) return FromVector(reals, shape).To(DType::kF32);
    const Tensor whole = FromVector(wholes, shape);
    return kind == NestedNumbers::kTruth ? whole.To(DType::kBool) : whole;
  }
  Tensor Made(DType dtype) const {
    if (reals.empty()) return Empty(shape, dtype);
    const bool exact = kind != NestedNumbers::kReal;
    return (exact ? FromVector(wholes, shape) : FromVector(reals, shape)).To(dtype);
  }
  Shape shape;
  NestedNumbers::Kind kind = NestedNumbers::kTruth;
  std::vector<double> reals;
  std::vector<int64_t> wholes;
};

Tensor TensorOf(const NestedNumbers& numbers, std::optional<DType> dtype) {
  NumbersReader reader;
  reader.ReadShape(numbers);
  reader.Read(numbers, 0);
  return dtype ? reader.Made(*dtype) : reader.Made();
}

}  // namespace torus
