// GradientBuckets: the gradients of many parameters in a few flat buffers, so that an all-reduce
// sends few long messages.
#pragma once

#include <cstddef>
#include <set>
#include <string>
#include <vector>

#include "autograd/variable.h"

namespace torus::parallel {

// Splits the parameters of the indices `chosen` into buckets of indices. It goes in reverse order,
// because a backward finishes the last layers first. A new bucket begins if the next parameter
// would exceed `bucket_bytes` or has another dtype (f32 and f64 are allowed). A parameter larger
// than `bucket_bytes` has a bucket of its own. Parameters named in `slices` do not share buckets
// with others. Buckets are in the order in which a backward finishes them.
std::vector<std::vector<size_t>> SplitIntoBuckets(const std::vector<NamedVariable>& parameters,
                                                  const std::vector<size_t>& chosen,
                                                  size_t bucket_bytes,
                                                  const std::set<std::string>& slices = {});

class GradientBuckets {
 public:
  // Splits all parameters as SplitIntoBuckets does. The buckets are on `device`: the CPU, or the
  // device of the parameters.
  GradientBuckets(const std::vector<NamedVariable>& parameters, size_t bucket_bytes,
                  Device device = {}, const std::set<std::string>& slices = {});

  int size() const { return static_cast<int>(buckets_.size()); }
  // Flat and contiguous.
  Tensor& bucket(int i) { return buckets_[i].flat; }
  const Tensor& bucket(int i) const { return buckets_[i].flat; }
  const std::vector<NamedVariable>& parameters(int i) const { return buckets_[i].parameters; }
  // Part: the elements of parameter p in bucket i. Behind: the elements after all parts, which
  // count gradients (Fill).
  Tensor Part(int i, size_t p) { return Window(buckets_[i], buckets_[i].flat, p); }
  Tensor Behind(int i);
  std::string Describe(int i) const;  // "bucket 0 (classifier.bias .. features.17.weight)"

  // Copies the parameters' gradients into bucket i, in its order. After them comes one element for
  // each parameter: 1 if it has a gradient, 0 if not (frozen, or unused in this step); its elements
  // are then zeros. The sum of this element over replicas counts the replicas with a gradient. On a
  // GPU this is one kernel in the current stream, plus one copy if the bucket is in CPU memory.
  void Fill(int i);
  // Copies the sums back to every parameter for which some replica has a gradient; the others stay
  // without, so that no optimizer decays them. On a GPU it works as Fill does. It waits for the GPU
  // only if a trained parameter got no gradient here, to learn whether another replica has one.
  void Unfill(int i);

 private:
  struct Bucket {
    std::vector<NamedVariable> parameters;
    std::vector<int64_t> begins;  // offset of each parameter in `flat`, then of the counts
    Tensor flat;
  };
  static Tensor Local(const Bucket& bucket);
  static Tensor Window(const Bucket& bucket, const Tensor& flat, size_t parameter);
  static Tensor Count(const Bucket& bucket, const Tensor& flat, size_t parameter);
  static bool SomeReplicaHas(const Bucket& bucket, size_t parameter);

  std::vector<Bucket> buckets_;
};

}  // namespace torus::parallel
