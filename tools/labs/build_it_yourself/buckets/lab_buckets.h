// Lab "buckets": replicas sum their gradients in buckets, beside the backward that makes them (Li
// et al. 2020, "PyTorch distributed: experiences on accelerating data parallel training"). You
// write a class of your own below Buckets, and MakeBuckets.
//
// The backward of a step goes from the last parameter to the first. Of each it says that the
// gradient is there, and goes on. A sum over all ranks takes its time too, and a part of that, the
// latency, however little is summed. So small gradients share a sum, beside the backward.
//
//   buckets  from the last parameter down: a parameter joins the bucket of the one above it, unless
//            that would then have more than `bucket_bytes`; then it begins the next one. So a
//            parameter larger than that has a bucket for itself
//   start    a bucket's sum begins as soon as the backward has gone past its last gradient
//   order    the k-th sum of a rank is added to the k-th of all others: all begin the same sums, in
//            the same order, of as many floats
//   unused   a gradient may be left out on some ranks, in some steps. It counts as zeros, and its
//            bucket is summed all the same: other ranks wait for it
//   finish   behind the backward: waits for all sums, and replaces every gradient by its mean over
//            the ranks, also where it was left out. Then the next step may come
//
// What is graded:
//   values   the means, on all ranks, over several steps
//   sums     as many as there are buckets, in their order
//   time     on a virtual clock: a sum of b bytes takes 2 (n - 1) (latency + b / n / bandwidth),
//            from when the last rank has begun it, and sums come one after the other. A step may
//            take the backward, and what is left of the sums when it ends
//   memory   room for each gradient once, and 8192 bytes
#pragma once

#include <cstddef>
#include <memory>
#include <span>

namespace lab {

// The link that sums over all ranks, beside what a rank computes.
class Sums {
 public:
  virtual ~Sums() = default;
  virtual int rank() const = 0;   // this one, from 0 to ranks() - 1
  virtual int ranks() const = 0;  // how many there are, at least 1

  // Begins this rank's next sum and returns at once with its number, from 0. Until Wait, `data`
  // must stay where it is, and neither be read nor changed.
  virtual int Start(std::span<float> data) = 0;
  // Waits for the sum of that number, and puts it where its data were. Once for each sum.
  virtual void Wait(int number) = 0;
};

class Buckets {
 public:
  virtual ~Buckets() = default;
  // The gradient of `parameter` is there. In descending order; what is left out in between is left
  // out in this step. Before this call the memory of a gradient holds anything.
  virtual void GradientIsReady(size_t parameter) = 0;
  // The backward has ended: no more gradients in this step.
  virtual void Finish() = 0;
};

// Called once, for all steps. gradients[p] is the memory of parameter p's gradient, which stays
// where it is, and may be empty. `gradients` and `sums` are there for as long as what is returned.
std::unique_ptr<Buckets> MakeBuckets(std::span<const std::span<float>> gradients,
                                     size_t bucket_bytes, Sums& sums);

}  // namespace lab
