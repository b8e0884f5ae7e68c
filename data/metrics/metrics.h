// Metrics of classifiers and language models: accuracy, F1, Matthews correlation, perplexity. A
// metric whose denominator is 0 is 0, as in scikit-learn.
#pragma once

#include <cstdint>
#include <vector>

#include "runtime/tensor.h"

namespace torus::data {

inline constexpr int64_t kMostClasses = 4096;  // that a ConfusionMatrix takes

// Entry [t][p] is the number of examples of class t that were predicted as class p. Matrices of
// parts of a dataset add up to that of the dataset.
class ConfusionMatrix {
 public:
  // Throws BadInput unless there are 1 to kMostClasses classes.
  explicit ConfusionMatrix(int64_t classes);

  // Throws BadInput for a class outside of [0, classes()).
  void Add(int64_t target, int64_t predicted, int64_t count = 1);
  void Add(const ConfusionMatrix& other);  // throws BadInput if classes() differ

  int64_t classes() const { return classes_; }  // their number
  // Examples of class `target` that were predicted as class `predicted`.
  int64_t At(int64_t target, int64_t predicted) const {
    return counts_[target * classes_ + predicted];
  }
  int64_t total() const;                          // all examples
  int64_t OfTarget(int64_t target) const;         // examples of a class
  int64_t OfPrediction(int64_t predicted) const;  // examples predicted as a class
  int64_t correct() const;                        // those predicted as what they are

 private:
  int64_t classes_;
  std::vector<int64_t> counts_;
};

// The fraction of examples that were predicted correctly.
double Accuracy(const ConfusionMatrix& matrix);

// The fraction of the rows of `logits` (N, classes), on any device, whose largest element is that of
// the row's class; the first of several counts. labels: integers (N). 0 without rows. Throws
// BadInput for other shapes, and float labels.
double Accuracy(const Tensor& logits, const Tensor& labels);

// The recall of each class: the fraction of its examples that were predicted as it.
std::vector<double> PerClassAccuracy(const ConfusionMatrix& matrix);

// The harmonic mean of precision and recall of class `positive`: 2 TP / (2 TP + FP + FN). GLUE
// reports F1 of class 1 for MRPC and QQP.
double F1(const ConfusionMatrix& matrix, int64_t positive = 1);

// The mean of F1 over the classes.
double MacroF1(const ConfusionMatrix& matrix);

// Matthews correlation coefficient, -1 to 1. For more than two classes, R_K: Gorodkin, "Comparing
// two K-category assignments by a K-category correlation coefficient" (2004), equation 8.
double MatthewsCorrelation(const ConfusionMatrix& matrix);

// exp(mean negative log likelihood per token, in nats). Throws BadInput unless tokens >= 1.
double Perplexity(double sum_of_losses, int64_t tokens);

}  // namespace torus::data
