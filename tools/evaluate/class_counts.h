// ClassCounts: how often each class was predicted for each, and the figures that follow from it.
#pragma once

#include <cstdint>
#include <vector>

namespace torus::tools {

class ClassCounts {
 public:
  explicit ClassCounts(int64_t classes);

  // BadInput for a class outside of [0, classes).
  void Add(int64_t truth, int64_t predicted);

  int64_t classes() const { return classes_; }
  int64_t samples() const { return samples_; }
  int64_t correct() const;
  int64_t truths(int64_t c) const;  // samples of class c
  int64_t hits(int64_t c) const { return At(c, c); }
  double Accuracy() const;  // in [0, 1]; NaN without samples

  // Matthews correlation of all classes (Gorodkin 2004, "Comparing two K-category assignments by a
  // K-category correlation coefficient", equation 8), scikit-learn's matthews_corrcoef: 0 where
  // truth or prediction is all of one class.
  double Matthews() const;
  // 2 precision recall / (precision + recall) of class c; 0 where it is neither present nor
  // predicted.
  double F1(int64_t c) const;

 private:
  int64_t At(int64_t truth, int64_t predicted) const {
    return counts_[truth * classes_ + predicted];
  }
  int64_t Predicted(int64_t c) const;

  int64_t classes_, samples_ = 0;
  std::vector<int64_t> counts_;  // [truth][predicted]
};

}  // namespace torus::tools
