// SumCheck: whether a ring's sums are right, by what all ranks have handed in. It looks at the
// first ones, and then at fewer and fewer.
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
  // Numbers 0, 1, 2, 4, 8, ...: later ones too, since a ring may keep something from sum to sum.
  static bool IsChecked(int64_t number) { return (number & (number - 1)) == 0; }

  explicit SumCheck(int ranks);

  // Each rank hands in its terms of sum `number`, from 0, before it sums them, and what came out
  // once all ranks are done. Of those that are not checked nothing is kept. `what` is the sum.
  void HandIn(int rank, int64_t number, std::span<const float> terms);
  void Look(int rank, int64_t number, std::span<const float> result, const std::string& what);

  // The first rank that had a wrong sum, with an element; empty where all were right.
  std::string Finding() const;

 private:
  // Each rank writes its own terms, and reads all of them once all have summed.
  struct Sum {
    std::vector<std::vector<float>> terms;
    int looked = 0;  // ranks
  };
  Sum& SumOf(int64_t number);
  void Note(int rank, int64_t number, std::string finding);

  const int ranks_;
  mutable std::mutex mutex_;           // of what is below, but for terms
  std::map<int64_t, Sum> sums_;        // at which not all ranks have looked
  std::vector<std::string> findings_;  // of each rank, its first
};

}  // namespace torus::tools::labs
