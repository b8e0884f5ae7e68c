// SumCheck: checks a ring's sums against the terms of all ranks. It checks the first sums, and then
// fewer and fewer.
#pragma once

#include <cstdint>
#include <map>
#include <mutex>
#include <span>
#include <string>
#include <vector>

namespace torus::tools::labs {

class SumCheck {
 public:
  // Checks sums 0, 1, 2, 4, 8, ...; also late ones, since a ring may keep something from sum to
  // sum.
  static bool IsChecked(int64_t number) { return (number & (number - 1)) == 0; }

  explicit SumCheck(int ranks);

  // Each rank calls HandIn with its terms of sum `number`, counted from 0, before it sums, and Look
  // with its result when all ranks are done. Nothing is kept of sums that are not checked. `what`
  // names the sum in the finding.
  void HandIn(int rank, int64_t number, std::span<const float> terms);
  void Look(int rank, int64_t number, std::span<const float> result, const std::string& what);

  // Names the first rank with a wrong sum, and an element of it; empty if all sums were right.
  std::string Finding() const;

 private:
  // Each rank writes its own terms, and reads those of all ranks when all have summed.
  struct Sum {
    std::vector<std::vector<float>> terms;
    int looked = 0;  // ranks that have called Look
  };
  Sum& SumOf(int64_t number);
  void Note(int rank, int64_t number, std::string finding);

  const int ranks_;
  mutable std::mutex mutex_;           // guards the members below, except for terms
  std::map<int64_t, Sum> sums_;        // for which not all ranks have called Look
  std::vector<std::string> findings_;  // the first one of each rank
};

}  // namespace torus::tools::labs
