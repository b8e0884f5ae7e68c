#include "tools/labs/train_with/sum_check.h"

#include <algorithm>
#include <cmath>
#include <limits>
#include <utility>

#include "runtime/error.h"

namespace torus::tools::labs {
namespace {

struct Exact {
  double sum = 0, sizes = 0;  // of the terms; of their magnitudes
};

Exact ExactSum(const std::vector<std::vector<float>>& terms, size_t i) {
  Exact exact;
  for (const std::vector<float>& of_rank : terms) {
    exact.sum += double{of_rank[i]};
    exact.sizes += std::abs(double{of_rank[i]});
  }
  return exact;
}

// n terms are multiplied by n, added in any order, and divided by n, perhaps by way of 1 / n: at
// most n + 2 roundings of what is no larger than the magnitudes' sum, each by 2^-24 of it, and one
// more for their products. The last summand is for results below the smallest normal number.
double Tolerance(const Exact& exact, size_t n) {
  const auto count = static_cast<double>(n);
  return (count + 3) * std::ldexp(exact.sizes, -24) +
         count * double{std::numeric_limits<float>::denorm_min()};
}

}  // namespace

SumCheck::SumCheck(int ranks) : ranks_(ranks), findings_(static_cast<size_t>(ranks)) {}

SumCheck::Sum& SumCheck::SumOf(int64_t number) {
  const std::lock_guard lock(mutex_);
  Sum& sum = sums_[number];
  sum.terms.resize(static_cast<size_t>(ranks_));
  return sum;
}

void SumCheck::HandIn(int rank, int64_t number, std::span<const float> terms) {
  if (!IsChecked(number)) return;
  SumOf(number).terms[static_cast<size_t>(rank)].assign(terms.begin(), terms.end());
}

void SumCheck::Look(int rank, int64_t number, std::span<const float> result,
                    const std::string& what) {
  if (!IsChecked(number)) return;
  const std::vector<std::vector<float>>& terms = SumOf(number).terms;
  size_t wrong = 0, first = 0;
  for (size_t i = 0; i < result.size(); ++i) {
    const Exact exact = ExactSum(terms, i);
    if (!std::isfinite(exact.sum)) continue;  // a step that is skipped
    if (std::abs(result[i] - exact.sum) <= Tolerance(exact, terms.size())) continue;
    if (wrong++ == 0) first = i;
  }
  if (wrong == 0) return Note(rank, number, "");
  Note(rank, number,
       fmt::format("on rank {} {} of {} elements are wrong; the first is element {}, {:.6g}, which "
                   "should be {:.6g} ({})",
                   rank, wrong, result.size(), first, result[first], ExactSum(terms, first).sum,
                   what));
}

void SumCheck::Note(int rank, int64_t number, std::string finding) {
  const std::lock_guard lock(mutex_);
  std::string& noted = findings_[static_cast<size_t>(rank)];
  if (noted.empty()) noted = std::move(finding);
  if (++sums_[number].looked == ranks_) sums_.erase(number);
}

std::string SumCheck::Finding() const {
  const std::lock_guard lock(mutex_);
  for (const std::string& finding : findings_)
    if (!finding.empty()) return finding;
  return "";
}

}  // namespace torus::tools::labs
