// Tensor: a strided view of shared storage, cheap to copy. It knows nothing about gradients.
#pragma once

#include <memory>
#include <string>
#include <vector>

#include "runtime/device.h"
#include "runtime/dtype.h"
#include "runtime/shape.h"
#include "runtime/storage.h"

namespace torus {

// Copies share memory, and so do views (Transpose, Narrow, ...). Kernels take contiguous tensors
// unless documented otherwise, so ops call Contiguous() first. Images have shape (N, H, W, C), also
// in memory.
class Tensor {
 public:
  Tensor() = default;  // undefined: stands for "none"
  // Allocates uninitialised memory.
  Tensor(const Shape& shape, DType dtype, Device device = {});
  // A view of `storage`; strides and offset are in elements.
  Tensor(std::shared_ptr<Storage> storage, const Shape& shape, const Strides& strides,
         int64_t offset, DType dtype);

  bool defined() const { return storage_ != nullptr; }  // whether it is not the undefined one
  const Shape& shape() const { return shape_; }         // sizes of the dimensions
  const Strides& strides() const { return strides_; }   // in elements
  int64_t offset() const { return offset_; }  // of the first element in the storage, in elements
  int rank() const { return shape_.rank(); }  // how many dimensions it has
  int64_t dim(int i) const {  // a negative i counts from the end; BadInput if out of range
    const int at = i < 0 ? i + shape_.rank() : i;
    if (at < 0 || at >= shape_.rank()) [[unlikely]]
      FailDim(i);
    return shape_[at];
  }
  int64_t numel() const { return numel_; }  // how many elements it has
  // Of its elements, whatever the strides.
  size_t bytes() const { return static_cast<size_t>(numel_) * SizeOf(dtype_); }
  DType dtype() const { return dtype_; }  // of its elements
  // Where its memory is; BadInput if undefined.
  Device device() const { return Defined("device").storage_->device(); }
  // Whether elements lie in row-major order without gaps.
  bool is_contiguous() const { return contiguous_; }
  // Shared by all views; null if undefined.
  const std::shared_ptr<Storage>& storage() const { return storage_; }

  // Pointer to the first element, for reading by CPU kernels. Throws BadInput if T is not the
  // dtype, and if the tensor is not in CPU memory.
  template <class T>
  const T* data() const {
    CheckElements(kDTypeOf<T>);
    return static_cast<const T*>(raw());
  }
  // Pointer to the first element, for writing. Bumps the version, so that a backward that saved the
  // old values detects the change.
  template <class T>
  T* mutable_data() {
    CheckElements(kDTypeOf<T>);
    return static_cast<T*>(mutable_raw());
  }
  // The same without a type, on any device. Throws BadInput on meta.
  const void* raw() const { return Address(); }
  // For writing; bumps the version.
  void* mutable_raw() {
    void* const address = Address();
    storage_->BumpVersion();
    return address;
  }
  // Counts the writes to the storage; BadInput if undefined.
  uint64_t version() const { return Defined("version").storage_->version(); }

  // Views: no bytes are copied.
  Tensor View(const Shape& shape) const;    // BadInput unless contiguous; one size may be -1
  Tensor Permute(const Dims& order) const;  // dimension i of the result is dimension order[i]
  Tensor Transpose(int64_t dim0, int64_t dim1) const;               // swaps two dimensions
  Tensor Narrow(int64_t dim, int64_t start, int64_t length) const;  // `length` indices from `start`
  Tensor Select(int64_t dim, int64_t index) const;                  // drops the dimension
  Tensor Expand(const Shape& shape) const;  // repeats size-1 dimensions with stride 0

  // A view if possible, else a copy.
  Tensor Reshape(const Shape& shape) const;
  Tensor Contiguous() const;  // this tensor if it is contiguous
  // Copies.
  Tensor Clone() const;
  Tensor To(DType dtype) const;    // returns this tensor if it already has the dtype
  Tensor To(Device device) const;  // returns this tensor if it is already there

  // The only element, as double. Throws BadInput unless there is exactly one.
  double Item() const;
  // "f32 (2, 3) on cpu"
  std::string Describe() const;

 private:
  const Tensor& Defined(const char* what) const {
    if (storage_ == nullptr) [[unlikely]]
      FailUndefined(what);
    return *this;
  }
  void CheckElements(DType wanted) const {
    if (storage_ == nullptr || wanted != dtype_ || storage_->device().kind != DeviceKind::kCpu)
        [[unlikely]]
      FailElements(wanted);
  }
  void* Address() const {
    char* const begin = static_cast<char*>(Defined("data").storage_->data());
    if (begin == nullptr) [[unlikely]]
      FailNoMemory();
    return begin + offset_ * static_cast<int64_t>(SizeOf(dtype_));
  }
  [[noreturn]] void FailDim(int i) const;
  [[noreturn]] void FailElements(DType wanted) const;
  [[noreturn]] void FailNoMemory() const;
  [[noreturn]] static void FailUndefined(const char* what);

  std::shared_ptr<Storage> storage_;
  Shape shape_;
  Strides strides_;
  int64_t offset_ = 0;
  int64_t numel_ = 0;
  DType dtype_ = DType::kF32;
  bool contiguous_ = true;
};

// A tensor and its name in a model or file.
struct NamedTensor {
  std::string name;  // dotted: "conv.weight"
  Tensor value;      // of that name
};

// New tensors: with undefined content, zeros, or `value` rounded to the dtype.
Tensor Empty(const Shape& shape, DType dtype = DType::kF32, Device device = {});
Tensor Zeros(const Shape& shape, DType dtype = DType::kF32, Device device = {});
Tensor Full(const Shape& shape, double value, DType dtype = DType::kF32, Device device = {});
// 0, 1, ..., count - 1.
Tensor Arange(int64_t count, DType dtype = DType::kI64, Device device = {});

// Copies `values` into a CPU tensor. Throws BadInput if their number does not match the shape.
template <class T>
Tensor FromVector(const std::vector<T>& values, const Shape& shape);
// All elements in row-major order. Throws BadInput for an undefined tensor and for one on meta.
template <class T>
std::vector<T> ToVector(const Tensor& tensor);

}  // namespace torus

// Formats a tensor as its Describe().
template <>
struct fmt::formatter<torus::Tensor> : fmt::formatter<std::string> {
  template <class Context>
  auto format(const torus::Tensor& tensor, Context& context) const {
    return fmt::formatter<std::string>::format(tensor.Describe(), context);
  }
};
