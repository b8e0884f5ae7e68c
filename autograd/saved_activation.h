// Activations kept for the backward, in full or as bf16: half the memory that a forward leaves
// behind, for gradients of rounded activations.
#pragma once

#include <memory>

#include "autograd/node.h"

namespace torus {

// While one is alive, the ops that this thread runs keep the f32 activations of their inputs and
// outputs as bf16 (round to nearest even, relative error 2^-9 at most). The forward itself is not
// changed; a gradient rule sees the rounded values. Parameters, statistics, masks and indices are
// kept in full.
class ActivationStorage {
 public:
  // kF32 (in full) or kBF16; BadInput for another dtype.
  explicit ActivationStorage(DType dtype);
  ~ActivationStorage();
  ActivationStorage(const ActivationStorage&) = delete;
  ActivationStorage& operator=(const ActivationStorage&) = delete;

  static DType Current();  // of this thread; kF32 unless one is alive

 private:
  DType before_;
};

namespace internal {
class PackedStorage;
}

// An activation that a gradient rule captures; as Saved, but for its dtype in memory. All that is
// saved of one storage shares one bf16 copy, views of any strides too; a view of a small part of
// its storage has a copy of its own.
class SavedActivation {
 public:
  SavedActivation() = default;
  explicit SavedActivation(const Tensor& tensor);
  explicit SavedActivation(const Variable& variable);  // undefined stays undefined
  // The tensor as it was saved, or one of the same strides with its values rounded to bf16.
  // BadInput when it was kept in full and was changed in place since.
  Tensor get() const;
  bool defined() const { return whole_.defined() || packed_ != nullptr; }

 private:
  Saved whole_;                                      // in full
  std::shared_ptr<internal::PackedStorage> packed_;  // or as bf16, with the view's place in it:
  Shape shape_;
  Strides strides_;
  int64_t offset_ = 0;
};

}  // namespace torus
