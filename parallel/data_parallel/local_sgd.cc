#include "parallel/data_parallel/local_sgd.h"

namespace torus::parallel {

// A run that resumes with shorter rounds may be beyond the end of one.
void LocalSgd::Synchronize(const std::string& what) {
  if (++place_ < steps_of_round_) return;
  ReplaceByMean(what);
  place_ = 0;
}

void LocalSgd::ReplaceByMean(const std::string& what) { ReplaceWeights(MeanWeights(what)); }

void LocalSgd::SetWeights(const WeightReader& read) {
  WeightExchange::SetWeights(read);
  place_ = 0;
}

}  // namespace torus::parallel
