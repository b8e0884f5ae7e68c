// DiLoCo (Douillard et al. 2023, "DiLoCo: distributed low-communication training of language
// models", arXiv:2311.08105, algorithm 1): after H steps of each replica's own (inner) optimizer,
// an outer one takes the difference between the weights at the round's start and the mean of the
// replicas' weights for a gradient:
//
//     mean = (w_0 + ... + w_(R-1)) / R       difference = start - mean
//     velocity = momentum x velocity + difference
//     start = mean - (rate x (difference + momentum x velocity) - difference)
//
// which is SGD with Nesterov's momentum as torch.optim.SGD has it, start - rate x (...), written so
// that rate 1 without momentum gives the bits of LocalSgd. Then all replicas begin the next round
// with the new `start`.
//
// With a codec the replicas sum their differences start - w_r through it (coded_bucket_sums.h),
// with error feedback from round to round if the codec has it, and mean = start - difference.
#pragma once

#include <cstdint>
#include <map>
#include <memory>
#include <string>
#include <vector>

#include "parallel/data_parallel/local_sgd.h"

namespace torus::parallel {

class Diloco : public LocalSgd {
 public:
  // Throws BadInput for a codec that ddp does not take (DataParallel).
  Diloco(Communicator& replicas, std::vector<NamedVariable> uses, const RoundOptions& round,
         const DataParallelOptions& options);

  void BroadcastWeights(const std::string& what) override;
  void BeginStep(int64_t step, double scale) override;
  // Begins a round, and the velocity anew.
  void SetWeights(const WeightReader& read) override;
  Round round() const override;
  void SetRound(const Round& round) override;
  // With the start of the round and the velocity.
  uint64_t WeightBytes() const override;

  // Of the codec of the differences, under keys that no memory of gradients has; takes such alone.
  std::map<std::string, CodecMemory> codec_memories() const override;
  void SetCodecMemories(std::map<std::string, CodecMemory> memories) override;
  std::vector<int64_t> SavedBytes() const override;

 private:
  void ReplaceByMean(const std::string& what) override;
  std::vector<Tensor> Differences(const std::string& what);
  void TakeOuterStep(size_t i, const Tensor& mean, const Tensor& difference);
  void Begin();
  std::vector<NamedTensor> Named(const std::vector<Tensor>& tensors) const;

  const RoundOptions options_;
  std::unique_ptr<DataParallel> coded_;  // null without a codec
  std::vector<Tensor> start_, velocity_;
  int64_t step_ = 0;
};

}  // namespace torus::parallel
