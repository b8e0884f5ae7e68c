// Gradient buckets: the gradients of many parameters in few flat buffers, so that an all-reduce
// sends few long messages.
#pragma once

#include <cstddef>
#include <set>
#include <string>
#include <vector>

#include "autograd/variable.h"

namespace torus::parallel {

// Those of `parameters` that `chosen` names by their places, in reverse order, since a backward
// finishes the last layers first. A new bucket begins when the next one would exceed `bucket_bytes`
// or has another dtype (f32 and f64 are allowed). A parameter larger than that has one of its own.
// Those whose names are in `slices` have buckets apart from the others'; buckets come in the order
// in which a backward finishes them.
std::vector<std::vector<size_t>> SplitIntoBuckets(const std::vector<NamedVariable>& parameters,
                                                  const std::vector<size_t>& chosen,
                                                  size_t bucket_bytes,
                                                  const std::set<std::string>& slices = {});

class GradientBuckets {
 public:
  // Of all parameters, as SplitIntoBuckets has them. The buckets lie on `device`, the CPU or that
  // of the parameters.
  GradientBuckets(const std::vector<NamedVariable>& parameters, size_t bucket_bytes,
                  Device device = {}, const std::set<std::string>& slices = {});

  int size() const { return static_cast<int>(buckets_.size()); }
  // Flat and contiguous.
  Tensor& bucket(int i) { return buckets_[i].flat; }
  const Tensor& bucket(int i) const { return buckets_[i].flat; }
  const std::vector<NamedVariable>& parameters(int i) const { return buckets_[i].parameters; }
  // Parameter p's part of it, and behind all parts what Fill says of them.
  Tensor Part(int i, size_t p) { return Window(buckets_[i], buckets_[i].flat, p); }
  Tensor Behind(int i);
  std::string Describe(int i) const;  // "bucket 0 (classifier.bias .. features.17.weight)"

  // Copies the parameters' gradients in, in the order of the bucket. Behind them stands one element
  // for each parameter: 1 where it has a gradient, 0 where it has none (frozen, or unused in this
  // step), whose elements are then zeros. Summed over replicas: how many have one. On a GPU it is
  // one kernel in the current stream, and one copy more where the bucket lies in the CPU's memory.
  void Fill(int i);
  // Copies the sums back to every parameter that some replica has a gradient for; the others are
  // left without, so that no optimizer decays them. On a GPU likewise; it waits for the GPU only to
  // learn of a parameter that is trained and got no gradient here whether another replica has one.
  void Unfill(int i);

 private:
  struct Bucket {
    std::vector<NamedVariable> parameters;
    std::vector<int64_t> begins;  // of each in `flat`, then of their counts
    Tensor flat;
  };
  static Tensor Local(const Bucket& bucket);
  static Tensor Window(const Bucket& bucket, const Tensor& flat, size_t parameter);
  static Tensor Count(const Bucket& bucket, const Tensor& flat, size_t parameter);
  static bool SomeReplicaHas(const Bucket& bucket, size_t parameter);

  std::vector<Bucket> buckets_;
};

}  // namespace torus::parallel
