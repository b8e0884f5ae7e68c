// SumCheck: whether a ring's first sums are right, by what all ranks have handed in.
#pragma once

#include <cstdint>
#include <mutex>
#include <span>
#include <string>
#include <vector>

namespace torus::tools::labs {

class SumCheck {
 public:
  static constexpr int64_t kSums = 2;  // that are checked: in a second one old values would show

  explicit SumCheck(int ranks);

  // Each rank hands in its terms of sum `number`, from 0, before it sums them, and what came out
  // once all ranks are done. Terms of those that are not checked are not kept. `what` is the sum.
  void HandIn(int rank, int64_t number, std::span<const float> terms);
  void Look(int rank, int64_t number, std::span<const float> result, const std::string& what);

  // The first rank that had a wrong sum, with an element; empty where all were right.
  std::string Finding() const;

 private:
  using Terms = std::vector<std::vector<float>>;  // of each rank
  std::vector<Terms> sums_;
  mutable std::mutex mutex_;           // of what is below
  std::vector<std::string> findings_;  // of each rank
};

}  // namespace torus::tools::labs
