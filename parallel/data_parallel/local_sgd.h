// Local SGD (Stich 2019, "Local SGD converges fast and communicates little", arXiv:1805.09767; Lin
// et al. 2020, "Don't use large mini-batches, use local SGD", arXiv:1808.07217): every H steps the
// weights of all replicas are replaced by their mean.
//
// A round is H steps that were taken: one that is skipped does not count. An optimizer's state is
// not averaged.
#pragma once

#include <cstdint>
#include <string>
#include <utility>
#include <vector>

#include "parallel/data_parallel/exchange_text.h"
#include "parallel/data_parallel/weight_exchange.h"

namespace torus::parallel {

class LocalSgd : public WeightExchange {
 public:
  LocalSgd(Communicator& replicas, std::vector<NamedVariable> uses, int64_t steps_of_round,
           const DataParallelOptions& options)
      : WeightExchange(replicas, std::move(uses), options), steps_of_round_(steps_of_round) {}

  bool is_apart() const override { return place_ > 0; }
  void Synchronize(const std::string& what) override;
  // Begins a round.
  void SetWeights(const WeightReader& read) override;
  Round round() const override { return {.place = place_}; }
  void SetRound(const Round& round) override { place_ = round.place; }

 protected:
  // Ends a round.
  virtual void ReplaceByMean(const std::string& what);

 private:
  const int64_t steps_of_round_;
  int64_t place_ = 0;  // steps taken in the round
};

}  // namespace torus::parallel
