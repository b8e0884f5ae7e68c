// Gradient buckets: the gradients of many parameters in few flat buffers, so that a ring has long
// chunks to send.
#pragma once

#include <cstddef>
#include <string>
#include <vector>

#include "autograd/variable.h"

namespace torus::parallel {

class GradientBuckets {
 public:
  // Takes the parameters in reverse order, since a backward finishes the last layers first, and
  // opens a new bucket when the next one would exceed `bucket_bytes` or has another dtype (f32 and
  // f64 are allowed). A parameter larger than that has a bucket of its own.
  GradientBuckets(std::vector<NamedVariable> parameters, size_t bucket_bytes);

  int size() const { return static_cast<int>(buckets_.size()); }
  // Flat, contiguous.
  Tensor& bucket(int i) { return buckets_[i].flat; }
  const Tensor& bucket(int i) const { return buckets_[i].flat; }
  std::string Describe(int i) const;  // "bucket 0 (classifier.bias .. features.17.weight)"

  // Copies the parameters' gradients in; one that is undefined counts as zeros.
  void Fill(int i);
  // Copies them back; afterwards every parameter of the bucket has a gradient.
  void Unfill(int i);

 private:
  struct Bucket {
    std::vector<NamedVariable> parameters;
    Tensor flat;
  };
  std::vector<Bucket> buckets_;
};

}  // namespace torus::parallel
