#include "tools/evaluate/class_counts.h"

#include <cmath>

#include "runtime/error.h"

namespace torus::tools {

ClassCounts::ClassCounts(int64_t classes) : classes_(classes), counts_(classes * classes) {}

void ClassCounts::Add(int64_t truth, int64_t predicted) {
  Require(truth >= 0 && truth < classes_ && predicted >= 0 && predicted < classes_, "evaluate",
          "needs classes below {}, got {} predicted as {}", classes_, truth, predicted);
  ++counts_[truth * classes_ + predicted];
  ++samples_;
}

int64_t ClassCounts::correct() const {
  int64_t sum = 0;
  for (int64_t c = 0; c < classes_; ++c) sum += At(c, c);
  return sum;
}

int64_t ClassCounts::truths(int64_t c) const {
  int64_t sum = 0;
  for (int64_t p = 0; p < classes_; ++p) sum += At(c, p);
  return sum;
}

int64_t ClassCounts::Predicted(int64_t c) const {
  int64_t sum = 0;
  for (int64_t t = 0; t < classes_; ++t) sum += At(t, c);
  return sum;
}

double ClassCounts::Accuracy() const {
  return static_cast<double>(correct()) / static_cast<double>(samples_);
}

double ClassCounts::Matthews() const {
  const auto s = static_cast<double>(samples_), right = static_cast<double>(correct());
  double both = 0, truth = 0, predicted = 0;
  for (int64_t c = 0; c < classes_; ++c) {
    const auto t = static_cast<double>(truths(c)), p = static_cast<double>(Predicted(c));
    both += t * p;
    truth += t * t;
    predicted += p * p;
  }
  const double spread = (s * s - truth) * (s * s - predicted);
  return spread > 0 ? (right * s - both) / std::sqrt(spread) : 0;
}

double ClassCounts::F1(int64_t c) const {
  const int64_t sum = truths(c) + Predicted(c);
  return sum == 0 ? 0 : 2 * static_cast<double>(hits(c)) / static_cast<double>(sum);
}

}  // namespace torus::tools
