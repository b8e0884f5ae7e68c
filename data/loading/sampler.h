// Sampler: which examples make up which mini-batch. One order an epoch, the same for every number
// of replicas.
#pragma once

#include <cstdint>
#include <vector>

namespace torus::data {

// The examples of one global mini-batch, whatever the replicas and micro-batches that will share
// it.
struct MiniBatch {
  int64_t epoch = 0;
  int64_t number = 0;            // within the epoch
  std::vector<int64_t> indices;  // of the dataset
};

// Where a run is: the next mini-batch. A checkpoint stores it.
struct SamplerPosition {
  int64_t epoch = 0;
  int64_t number = 0;
  friend bool operator==(const SamplerPosition&, const SamplerPosition&) = default;
};

struct SamplerOptions {
  int64_t size = 0;        // of the dataset
  int64_t batch_size = 0;  // global; the last of an epoch may be smaller
  uint64_t seed = 0;
  bool shuffle = true;     // false: 0, 1, 2, ... in every epoch, for evaluation
  bool drop_last = false;  // leave out a last mini-batch that is smaller
};

// A permutation of 0 .. size-1: Fisher and Yates' shuffle (Knuth, TAOCP 2, algorithm P), fed by the
// random stream of (seed, epoch). A pure function.
std::vector<int64_t> ShuffledOrder(int64_t size, uint64_t seed, int64_t epoch);

// Copies are independent. Not thread-safe: the loader has its own.
class Sampler {
 public:
  // BadInput unless size and batch size are at least 1, and where drop_last leaves nothing.
  explicit Sampler(const SamplerOptions& options);

  const SamplerOptions& options() const { return options_; }
  int64_t batches_per_epoch() const;
  // Of the next mini-batch.
  SamplerPosition position() const { return position_; }
  // Goes to the first mini-batch of an epoch.
  void SetEpoch(int64_t epoch) { Seek({epoch, 0}); }
  // Resumes in the middle of one. BadInput outside of [0, batches_per_epoch()).
  void Seek(SamplerPosition position);
  // The next mini-batch; after an epoch's last comes the next epoch's first.
  MiniBatch Next();

  // A position as the number of mini-batches before it, and back.
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
