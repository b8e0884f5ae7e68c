#include "data/metrics/metrics.h"

#include <algorithm>
#include <cmath>
#include <numeric>

#include "runtime/error.h"

namespace torus::data {
namespace {

double Ratio(double numerator, double denominator) {
  return denominator == 0 ? 0 : numerator / denominator;
}

}  // namespace

ConfusionMatrix::ConfusionMatrix(int64_t classes) : classes_(classes) {
  Require(classes >= 1 && classes <= kMostClasses, "metrics", "requires 1 to {} classes, got {}",
          kMostClasses, classes);
  counts_.resize(classes * classes);
}

void ConfusionMatrix::Add(int64_t target, int64_t predicted, int64_t count) {
  for (const int64_t c : {target, predicted}) {
    Require(c >= 0 && c < classes_, "metrics", "requires classes of 0 to {}, got {}", classes_ - 1,
            c);
  }
  counts_[target * classes_ + predicted] += count;
}

void ConfusionMatrix::Add(const ConfusionMatrix& other) {
  Require(other.classes_ == classes_, "metrics", "requires {} classes, got {}", classes_,
          other.classes_);
  for (size_t i = 0; i < counts_.size(); ++i) counts_[i] += other.counts_[i];
}

int64_t ConfusionMatrix::total() const {
  return std::accumulate(counts_.begin(), counts_.end(), int64_t{0});
}

int64_t ConfusionMatrix::OfTarget(int64_t target) const {
  int64_t sum = 0;
  for (int64_t p = 0; p < classes_; ++p) sum += At(target, p);
  return sum;
}

int64_t ConfusionMatrix::OfPrediction(int64_t predicted) const {
  int64_t sum = 0;
  for (int64_t t = 0; t < classes_; ++t) sum += At(t, predicted);
  return sum;
}

int64_t ConfusionMatrix::correct() const {
  int64_t sum = 0;
  for (int64_t c = 0; c < classes_; ++c) sum += At(c, c);
  return sum;
}

double Accuracy(const ConfusionMatrix& matrix) {
  return Ratio(static_cast<double>(matrix.correct()), static_cast<double>(matrix.total()));
}

double Accuracy(const Tensor& logits, const Tensor& labels) {
  Require(logits.rank() == 2 && logits.dim(1) >= 1 && labels.shape() == Shape{logits.dim(0)} &&
              !IsFloating(labels.dtype()),
          "metrics", "requires logits (N, classes) and integer labels (N), got {} and {}", logits,
          labels);
  const auto values = ToVector<double>(logits.To(DType::kF64));
  const auto classes = ToVector<int64_t>(labels.To(DType::kI64));
  int64_t correct = 0;
  for (size_t i = 0; i < classes.size(); ++i) {
    const auto row = values.begin() + static_cast<int64_t>(i) * logits.dim(1);
    correct += std::max_element(row, row + logits.dim(1)) - row == classes[i];
  }
  return Ratio(static_cast<double>(correct), static_cast<double>(classes.size()));
}

std::vector<double> PerClassAccuracy(const ConfusionMatrix& matrix) {
  std::vector<double> shares;
  for (int64_t c = 0; c < matrix.classes(); ++c) {
    shares.push_back(
        Ratio(static_cast<double>(matrix.At(c, c)), static_cast<double>(matrix.OfTarget(c))));
  }
  return shares;
}

double F1(const ConfusionMatrix& matrix, int64_t positive) {
  Require(positive >= 0 && positive < matrix.classes(), "metrics",
          "requires a class of 0 to {}, got {}", matrix.classes() - 1, positive);
  const auto both = matrix.OfTarget(positive) + matrix.OfPrediction(positive);
  return Ratio(2 * static_cast<double>(matrix.At(positive, positive)), static_cast<double>(both));
}

double MacroF1(const ConfusionMatrix& matrix) {
  double sum = 0;
  for (int64_t c = 0; c < matrix.classes(); ++c) sum += F1(matrix, c);
  return sum / static_cast<double>(matrix.classes());
}

double MatthewsCorrelation(const ConfusionMatrix& matrix) {
  const auto total = static_cast<double>(matrix.total());
  double both = 0, targets = 0, predictions = 0;  // sums of products of the row and column sums
  for (int64_t c = 0; c < matrix.classes(); ++c) {
    const auto t = static_cast<double>(matrix.OfTarget(c));
    const auto p = static_cast<double>(matrix.OfPrediction(c));
    both += t * p, targets += t * t, predictions += p * p;
  }
  const double covariance = static_cast<double>(matrix.correct()) * total - both;
  return Ratio(covariance,
               std::sqrt(total * total - targets) * std::sqrt(total * total - predictions));
}

double Perplexity(double sum_of_losses, int64_t tokens) {
  Require(tokens >= 1, "metrics", "requires at least one token, got {}", tokens);
  return std::exp(sum_of_losses / static_cast<double>(tokens));
}

}  // namespace torus::data
