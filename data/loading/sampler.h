// Sampler: decides which examples are in which mini-batch. Each epoch has one order, the same for
// any number of replicas.
#pragma once

#include <cstdint>
#include <vector>

namespace torus::data {

// The examples of one global mini-batch, independent of the replicas and micro-batches that share
// it.
struct MiniBatch {
  int64_t epoch = 0;             // from 0
  int64_t number = 0;            // within the epoch
  std::vector<int64_t> indices;  // of the dataset
};

// The position of a run: its next mini-batch. A checkpoint stores it.
struct SamplerPosition {
  int64_t epoch = 0;   // from 0
  int64_t number = 0;  // of the mini-batch within it
  friend bool operator==(const SamplerPosition&, const SamplerPosition&) = default;
};

// Which examples a mini-batch has.
struct SamplerOptions {
  int64_t size = 0;        // of the dataset
  int64_t batch_size = 0;  // global; the last one of an epoch may be smaller
  uint64_t seed = 0;       // of the orders
  bool shuffle = true;     // false: 0, 1, 2, ... in every epoch, for evaluation
  bool drop_last = false;  // leave out the last mini-batch if it is smaller
};

// A permutation of 0 .. size-1: Fisher-Yates shuffle (Knuth, TAOCP 2, algorithm P) with the random
// stream of (seed, epoch). A pure function.
std::vector<int64_t> ShuffledOrder(int64_t size, uint64_t seed, int64_t epoch);

// Copies are independent. Not thread-safe: the loader has its own copy.
class Sampler {
 public:
  // Throws BadInput unless size and batch size are at least 1, and if drop_last leaves no
  // mini-batch.
  explicit Sampler(const SamplerOptions& options);

  const SamplerOptions& options() const { return options_; }  // as they were given
  int64_t batches_per_epoch() const;                          // mini-batches
  // The position of the next mini-batch.
  SamplerPosition position() const { return position_; }
  // Moves to the first mini-batch of an epoch.
  void SetEpoch(int64_t epoch) { Seek({epoch, 0}); }
  // Moves to any position. Throws BadInput if its number is not in [0, batches_per_epoch()).
  void Seek(SamplerPosition position);
  // Returns the next mini-batch; after the last of an epoch comes the first of the next epoch.
  MiniBatch Next();

  // Convert between a position and the number of mini-batches before it; PositionOf is the inverse.
  int64_t StepOf(SamplerPosition position) const;
  SamplerPosition PositionOf(int64_t step) const;

 private:
  void LoadOrder();  // of the position's epoch, where there is one

  SamplerOptions options_;
  SamplerPosition position_;
  std::vector<int64_t> order_;  // empty without a shuffle: an epoch may have any size then
  int64_t order_epoch_ = -1;
};

}  // namespace torus::data
