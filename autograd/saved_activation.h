// Activations kept for the backward, in f32 or as bf16. bf16 halves the memory that a forward
// leaves allocated; gradients are then computed from rounded activations.
#pragma once

#include <memory>

#include "autograd/node.h"

namespace torus {

// While one exists, the ops that this thread runs save their f32 input and output activations as
// bf16 (round to nearest even, relative error at most 2^-9). The forward itself does not change;
// gradient rules see the rounded values. Parameters, statistics, masks and indices are saved
// unrounded.
class ActivationStorage {
 public:
  // kF32 (unrounded) or kBF16. Throws BadInput for another dtype.
  explicit ActivationStorage(DType dtype);
  ~ActivationStorage();
  ActivationStorage(const ActivationStorage&) = delete;
  ActivationStorage& operator=(const ActivationStorage&) = delete;

  static DType Current();  // of this thread; kF32 unless one exists

 private:
  DType before_;
};

namespace internal {
class PackedStorage;
}

// An activation that a gradient rule captures: like Saved, but it may be kept as bf16. All saved
// tensors of one storage share one bf16 copy, including views of any strides. A view of a small
// part of its storage gets its own copy.
class SavedActivation {
 public:
  SavedActivation() = default;
  explicit SavedActivation(const Tensor& tensor);
  explicit SavedActivation(const Variable& variable);  // undefined stays undefined
  // Returns the saved tensor, or one of the same strides with values rounded to bf16. Throws
  // BadInput if the tensor was kept unrounded and was changed in place after saving.
  Tensor get() const;
  bool defined() const { return whole_.defined() || packed_ != nullptr; }

 private:
  Saved whole_;                                      // unrounded
  std::shared_ptr<internal::PackedStorage> packed_;  // or as bf16; this view of it:
  Shape shape_;
  Strides strides_;
  int64_t offset_ = 0;
};

}  // namespace torus
