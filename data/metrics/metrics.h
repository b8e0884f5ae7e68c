// Metrics of classifiers and language models: accuracy, F1, Matthews' correlation, perplexity.
#pragma once

#include <cstdint>
#include <vector>

namespace torus::data {

inline constexpr int64_t kMostClasses = 4096;

// Entry [t][p] is the number of examples of class t that were predicted as class p. The matrix of a
// dataset is the sum of those of its parts.
class ConfusionMatrix {
 public:
  // BadInput unless there are 1 to kMostClasses classes.
  explicit ConfusionMatrix(int64_t classes);

  // BadInput for a class outside of [0, classes()).
  void Add(int64_t target, int64_t predicted, int64_t count = 1);
  void Add(const ConfusionMatrix& other);  // BadInput for another number of classes

  int64_t classes() const { return classes_; }
  int64_t At(int64_t target, int64_t predicted) const {
    return counts_[target * classes_ + predicted];
  }
  int64_t total() const;
  int64_t OfTarget(int64_t target) const;         // examples of a class
  int64_t OfPrediction(int64_t predicted) const;  // examples predicted as a class
  int64_t correct() const;

 private:
  int64_t classes_;
  std::vector<int64_t> counts_;
};

// A metric whose denominator is 0 is 0, as in scikit-learn.

// The share of examples whose class was predicted.
double Accuracy(const ConfusionMatrix& matrix);

// The recall of each class: the share of its examples that were predicted as it.
std::vector<double> PerClassAccuracy(const ConfusionMatrix& matrix);

// Harmonic mean of the precision and recall of class `positive`: 2 TP / (2 TP + FP + FN). GLUE
// reports that of class 1 for MRPC and QQP.
double F1(const ConfusionMatrix& matrix, int64_t positive = 1);

// The mean of F1 over the classes.
double MacroF1(const ConfusionMatrix& matrix);

// Matthews' correlation coefficient, -1 to 1; of more than two classes, R_K: Gorodkin, "Comparing
// two K-category assignments by a K-category correlation coefficient" (2004), equation 8.
double MatthewsCorrelation(const ConfusionMatrix& matrix);

// exp(mean negative log likelihood of a token, in nats). BadInput unless tokens >= 1.
double Perplexity(double sum_of_losses, int64_t tokens);

}  // namespace torus::data
