// Lab "buckets": replicas sum their gradients in buckets while the backward still runs (Li et al.
// 2020, "PyTorch distributed: experiences on accelerating data parallel training"). You write a
// class that derives from Buckets, and MakeBuckets.
//
// The backward of a step goes from the last parameter to the first. It calls GradientIsReady for
// each gradient that it has computed, and goes on. Summing over all ranks takes time too, and part
// of that time, the latency, does not depend on the size. So small gradients are summed together in
// a bucket, and the sums run at the same time as the backward.
//
//   buckets  go from the last parameter to the first. A parameter joins the bucket of the parameter
//            after it, unless the bucket would then exceed `bucket_bytes`; in that case it begins a
//            new bucket. So a parameter larger than `bucket_bytes` has a bucket of its own
//   start    the sum of a bucket starts as soon as the backward has passed its last gradient
//   order    the k-th sum of a rank is added to the k-th sum of every other rank. So all ranks
//            start the same sums, in the same order, with the same number of floats
//   unused   some ranks may leave out a gradient in some steps. It counts as zeros, and its bucket
//            is still summed, because the other ranks wait for it
//   finish   after the backward, waits for all sums and replaces every gradient by its mean over
//            the ranks, also those that were left out. Then the next step may begin
//
// What is graded:
//   values   the means, on all ranks, over several steps
//   sums     there are as many sums as buckets, in the order of the buckets
//   time     on a virtual clock, a sum of b bytes over n ranks takes
//            2 (n - 1) (latency + b / n / bandwidth) from the moment the last rank starts it, and
//            sums run one after the other. A step may take as long as the backward, plus what is
//            left of the sums when the backward ends
//   memory   room for each gradient once, and 8192 bytes
//   leak     nothing stays allocated from step to step, or (but for 8192 bytes) after the last
#pragma once

#include <cstddef>
#include <memory>
#include <span>

namespace lab {

// Sums over all ranks, in the background while a rank computes.
class Sums {
 public:
  virtual ~Sums() = default;
  virtual int rank() const = 0;   // this rank, from 0 to ranks() - 1
  virtual int ranks() const = 0;  // how many there are, at least 1

  // Starts this rank's next sum and returns its number at once; numbers count from 0. Until Wait,
  // `data` must stay where it is, and must be neither read nor changed.
  virtual int Start(std::span<float> data) = 0;
  // Waits for the sum of that number and writes it over the `data` given to Start. Call it once for
  // each sum.
  virtual void Wait(int number) = 0;
};

class Buckets {
 public:
  virtual ~Buckets() = default;
  // Called when the gradient of `parameter` is computed. Parameters come in descending order; one
  // that is skipped has no gradient in this step. Before this call the memory of a gradient may
  // hold any values.
  virtual void GradientIsReady(size_t parameter) = 0;
  // Called when the backward has ended: there are no more gradients in this step.
  virtual void Finish() = 0;
};

// Called once, for all steps. gradients[p] is the memory of parameter p's gradient; it never moves,
// and may be empty. `gradients` and `sums` outlive the returned object.
std::unique_ptr<Buckets> MakeBuckets(std::span<const std::span<float>> gradients,
                                     size_t bucket_bytes, Sums& sums);

}  // namespace lab
