#include "runtime/tensor.h"

#include <algorithm>
#include <limits>

#include "runtime/kernels.h"

namespace torus {
namespace {

// Sizes of 1 may have any stride.
bool IsContiguous(const Shape& shape, const Strides& strides) {
  int64_t step = 1;
  for (int i = shape.rank() - 1; i >= 0; --i) {
    if (shape[i] != 1 && strides[i] != step) return Numel(shape) == 0;
    step *= shape[i];
  }
  return true;
}

}  // namespace

Tensor::Tensor(const Shape& shape, DType dtype, Device device)
    : shape_(shape), numel_(Numel(shape)), dtype_(dtype) {
  for (int64_t size : shape) Require(size >= 0, "tensor", "negative size in {}", shape);
  Require(numel_ <= std::numeric_limits<int64_t>::max() / 8, "tensor",
          "shape {} has more bytes than can be counted", shape);
  strides_ = ContiguousStrides(shape);  // only now known not to overflow
  storage_ = std::make_shared<Storage>(bytes(), device);
}

Tensor::Tensor(std::shared_ptr<Storage> storage, const Shape& shape, const Strides& strides,
               int64_t offset, DType dtype)
    : storage_(std::move(storage)),
      shape_(shape),
      strides_(strides),
      offset_(offset),
      numel_(Numel(shape)),
      dtype_(dtype),
      contiguous_(IsContiguous(shape, strides)) {}

void Tensor::FailDim(int i) const {
  Throw<BadInput>("dim", "dimension {} is outside of shape {}", i, shape_);
}

void Tensor::FailElements(DType wanted) const {
  if (!defined()) FailUndefined("data");
  Require(wanted == dtype_, "data", "asked for elements of {} from {}", Name(wanted), *this);
  if (device() == kMetaDevice) FailNoMemory();
  Throw<BadInput>("data", "elements can be read and written on a CPU only, got {}", *this);
}

void Tensor::FailNoMemory() const {
  Throw<BadInput>("data",
                  "{} has a shape and no values: if a model made it, call Initialize or load "
                  "weights first; an op reads and writes elements inside Dispatch "
                  "(runtime/dispatch.h)",
                  *this);
}

void Tensor::FailUndefined(const char* what) {
  Throw<BadInput>(what, "needs a defined tensor, got an undefined one");
}

Tensor Tensor::View(const Shape& shape) const {
  Defined("view");
  const Shape resolved = ResolveShape("view", shape, numel_);
  Require(contiguous_, "view", "needs a contiguous tensor, got strides {} of shape {}", strides_,
          shape_);
  return Tensor(storage_, resolved, ContiguousStrides(resolved), offset_, dtype_);
}

Tensor Tensor::Permute(const Dims& order) const {
  Defined("permute");
  Require(order.rank() == rank(), "permute", "{} dimensions named for shape {}", order.rank(),
          shape_);
  Shape shape;
  Strides strides;
  unsigned seen = 0;
  for (int64_t named : order) {
    const int dim = NormalizeDim("permute", named, rank());
    Require(!(seen >> dim & 1u), "permute", "dimension {} is named twice", dim);
    seen |= 1u << dim;
    shape.push_back(shape_[dim]);
    strides.push_back(strides_[dim]);
  }
  return Tensor(storage_, shape, strides, offset_, dtype_);
}

Tensor Tensor::Transpose(int64_t dim0, int64_t dim1) const {
  Defined("transpose");
  const int a = NormalizeDim("transpose", dim0, rank()),
            b = NormalizeDim("transpose", dim1, rank());
  if (rank() == 0) return *this;
  Shape shape = shape_;
  Strides strides = strides_;
  std::swap(shape[a], shape[b]);
  std::swap(strides[a], strides[b]);
  return Tensor(storage_, shape, strides, offset_, dtype_);
}

Tensor Tensor::Narrow(int64_t dim, int64_t start, int64_t length) const {
  Defined("narrow");
  Require(rank() > 0, "narrow", "needs at least one dimension");
  const int d = NormalizeDim("narrow", dim, rank());
  Require(start >= 0 && length >= 0 && length <= shape_[d] && start <= shape_[d] - length, "narrow",
          "[{}, {} + {}) is outside of dimension {} of shape {}", start, start, length, d, shape_);
  Shape shape = shape_;
  shape[d] = length;
  return Tensor(storage_, shape, strides_, offset_ + start * strides_[d], dtype_);
}

Tensor Tensor::Select(int64_t dim, int64_t index) const {
  const int d = NormalizeDim("select", dim, rank());
  const Tensor row = Narrow(d, index, 1);
  Shape shape;
  Strides strides;
  for (int i = 0; i < rank(); ++i) {
    if (i == d) continue;
    shape.push_back(shape_[i]);
    strides.push_back(strides_[i]);
  }
  return Tensor(storage_, shape, strides, row.offset_, dtype_);
}

Tensor Tensor::Expand(const Shape& shape) const {
  Defined("expand");
  const int added = shape.rank() - rank();
  Require(added >= 0, "expand", "shape {} does not expand to {}", shape_, shape);
  Shape out = shape;
  Strides strides = Dims::Filled(shape.rank(), 0);
  for (int i = 0; i < rank(); ++i) {
    const int64_t size = shape_[i];
    int64_t& wanted = out[i + added];
    if (wanted == -1) wanted = size;
    Require(wanted >= 0, "expand", "size {} of {} is negative", wanted, shape);
    Require(wanted == size || size == 1, "expand", "shape {} does not expand to {}", shape_, shape);
    strides[i + added] = wanted == size ? strides_[i] : 0;
  }
  for (int i = 0; i < added; ++i)
    Require(out[i] >= 0, "expand", "new dimension {} of {} needs a size", i, shape);
  return Tensor(storage_, out, strides, offset_, dtype_);
}

Tensor Tensor::Reshape(const Shape& shape) const { return Contiguous().View(shape); }

Tensor Tensor::Contiguous() const { return contiguous_ ? *this : Clone(); }

Tensor Tensor::Clone() const {
  Defined("clone");
  Tensor out(shape_, dtype_, device());
  Copy(*this, out);
  return out;
}

Tensor Tensor::To(DType dtype) const {
  Defined("to");
  if (dtype == dtype_) return *this;
  Tensor out(shape_, dtype, device());
  Copy(*this, out);
  return out;
}

Tensor Tensor::To(Device device) const {
  if (device == Defined("to").storage_->device()) return *this;
  Tensor out(shape_, dtype_, device);
  Copy(*this, out);
  return out;
}

double Tensor::Item() const {
  Require(defined() && numel_ == 1, "item", "needs exactly one element, got {}", *this);
  const Tensor wide = To(DType::kF64).To(Device{});
  return *wide.data<double>();
}

std::string Tensor::Describe() const {
  if (!defined()) return "an undefined tensor";
  return fmt::format("{} {} on {}", Name(dtype_), ToString(shape_), ToString(device()));
}

Tensor Empty(const Shape& shape, DType dtype, Device device) {
  return Tensor(shape, dtype, device);
}

Tensor Zeros(const Shape& shape, DType dtype, Device device) {
  Tensor out(shape, dtype, device);
  // Fresh pages from the operating system are already zero, and use no memory until written.
  if (!out.storage()->began_zero()) Fill(out, 0);
  return out;
}

Tensor Full(const Shape& shape, double value, DType dtype, Device device) {
  Tensor out(shape, dtype, device);
  Fill(out, value);
  return out;
}

Tensor Arange(int64_t count, DType dtype, Device device) {
  Require(count >= 0, "arange", "needs a count of at least 0, got {}", count);
  Tensor out({count}, dtype, device);
  FillArange(out);
  return out;
}

template <class T>
Tensor FromVector(const std::vector<T>& values, const Shape& shape) {
  Require(static_cast<int64_t>(values.size()) == Numel(shape), "tensor",
          "{} values do not fill shape {}", values.size(), shape);
  Tensor out(shape, kDTypeOf<T>);
  std::copy(values.begin(), values.end(), out.template mutable_data<T>());
  return out;
}

template <class T>
std::vector<T> ToVector(const Tensor& tensor) {
  Require(tensor.defined(), "to_vector", "needs a defined tensor, got an undefined one");
  const Tensor flat = tensor.To(Device{}).Contiguous();
  const T* p = flat.data<T>();
  return std::vector<T>(p, p + flat.numel());
}

#define TORUS_INSTANTIATE(T)                                          \
  template Tensor FromVector<T>(const std::vector<T>&, const Shape&); \
  template std::vector<T> ToVector<T>(const Tensor&);
TORUS_INSTANTIATE(double)
TORUS_INSTANTIATE(float)
TORUS_INSTANTIATE(BFloat16)
TORUS_INSTANTIATE(Float16)
TORUS_INSTANTIATE(int64_t)
TORUS_INSTANTIATE(int32_t)
TORUS_INSTANTIATE(uint8_t)
TORUS_INSTANTIATE(bool)
#undef TORUS_INSTANTIATE

}  // namespace torus
