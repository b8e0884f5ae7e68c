#include "parallel/pipeline/loss_terms.h"

#include <algorithm>

#include "runtime/binary_counter.h"
#include "runtime/kernels.h"

namespace torus::parallel {

void LossTerms::Clear() {
  terms_.clear();
  sum_.reset();
}

void LossTerms::Add(int micro_batch, double weight, const Tensor& loss) {
  const auto m = static_cast<size_t>(micro_batch);
  terms_.resize(std::max(terms_.size(), m + 1));
  terms_[m] = {weight, loss.Contiguous().View({1})};
  sum_.reset();
}

std::vector<double> LossTerms::Values() const {
  const auto some =
      std::ranges::find_if(terms_, [](const Term& term) { return term.loss.defined(); });
  if (some == terms_.end()) return std::vector<double>(terms_.size());
  Tensor all = Zeros({std::ssize(terms_)}, some->loss.dtype(), some->loss.device());
  for (size_t m = 0; m < terms_.size(); ++m)
    if (Tensor place = all.Narrow(0, static_cast<int64_t>(m), 1); terms_[m].loss.defined())
      Copy(terms_[m].loss, place);
  return ToVector<double>(all.To(Device{}).To(DType::kF64));
}

double LossTerms::Sum() const {
  if (!sum_) {
    std::vector<double> values = Values();
    for (size_t m = 0; m < values.size(); ++m) values[m] *= terms_[m].weight;
    sum_ = TreeSum(values);
  }
  return *sum_;
}

}  // namespace torus::parallel
