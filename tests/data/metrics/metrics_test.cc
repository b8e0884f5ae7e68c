#include "data/metrics/metrics.h"

#include <gtest/gtest.h>

#include <cmath>

#include "tests/data/temp_file.h"

namespace torus::data {
namespace {

ConfusionMatrix Of(int64_t classes, const std::vector<int64_t>& targets,
                   const std::vector<int64_t>& predictions) {
  ConfusionMatrix matrix(classes);
  for (size_t i = 0; i < targets.size(); ++i) matrix.Add(targets[i], predictions[i]);
  return matrix;
}

// By hand: TP 3, FN 1, FP 2, TN 4.
TEST(Metrics, OfTwoClasses) {
  const ConfusionMatrix matrix =
      Of(2, {1, 1, 1, 1, 0, 0, 0, 0, 0, 0}, {1, 1, 1, 0, 1, 1, 0, 0, 0, 0});
  EXPECT_EQ(matrix.total(), 10);
  EXPECT_EQ(matrix.correct(), 7);
  EXPECT_DOUBLE_EQ(Accuracy(matrix), 0.7);
  EXPECT_DOUBLE_EQ(F1(matrix), 6.0 / 9);
  EXPECT_DOUBLE_EQ(F1(matrix, 0), 8.0 / 11);
  EXPECT_DOUBLE_EQ(MacroF1(matrix), (6.0 / 9 + 8.0 / 11) / 2);
  EXPECT_DOUBLE_EQ(PerClassAccuracy(matrix)[0], 4.0 / 6);
  EXPECT_DOUBLE_EQ(PerClassAccuracy(matrix)[1], 3.0 / 4);
  // (TP TN - FP FN) / sqrt((TP + FP)(TP + FN)(TN + FP)(TN + FN))
  EXPECT_DOUBLE_EQ(MatthewsCorrelation(matrix), 10 / std::sqrt(5.0 * 4 * 6 * 5));
}

TEST(Metrics, AccuracyOfLogits) {
  const Tensor logits = FromVector<float>({1, 3, 2, 5, 5, 0, 0, 1, 9}, {3, 3});
  EXPECT_DOUBLE_EQ(Accuracy(logits, FromVector<int64_t>({1, 0, 2}, {3})), 1);
  EXPECT_DOUBLE_EQ(Accuracy(logits.Transpose(0, 1), FromVector<int32_t>({1, 1, 0}, {3})), 2.0 / 3);
  EXPECT_EQ(Accuracy(Zeros({0, 3}), Zeros({0}, DType::kI64)), 0);
  EXPECT_THROW(Accuracy(logits, Zeros({3})), BadInput);
  EXPECT_THROW(Accuracy(logits, Zeros({2}, DType::kI64)), BadInput);
  EXPECT_THROW(Accuracy(Zeros({3}), Zeros({3}, DType::kI64)), BadInput);
}

// The example in scikit-learn's documentation of matthews_corrcoef.
TEST(Metrics, MatthewsOfScikitLearnsExample) {
  EXPECT_NEAR(MatthewsCorrelation(Of(2, {1, 1, 1, 0}, {1, 0, 1, 1})), -1.0 / 3, 1e-15);
}

// Three classes: correct 4 of 6; target margins 2, 2, 2; predicted margins 2, 3, 1.
TEST(Metrics, OfThreeClasses) {
  const ConfusionMatrix matrix = Of(3, {0, 0, 1, 1, 2, 2}, {0, 0, 1, 1, 1, 2});
  const double covariance = 5 * 6 - (2 * 2 + 2 * 3 + 2 * 1);
  EXPECT_DOUBLE_EQ(MatthewsCorrelation(matrix), covariance / std::sqrt((36.0 - 12) * (36.0 - 14)));
  EXPECT_DOUBLE_EQ(MacroF1(matrix), (1 + 0.8 + 2.0 / 3) / 3);
  EXPECT_EQ(PerClassAccuracy(matrix), (std::vector<double>{1, 1, 0.5}));
}

TEST(Metrics, AreOneWhereAllIsFoundAndZeroWhereNothingIsSaid) {
  const ConfusionMatrix perfect = Of(2, {0, 1, 1}, {0, 1, 1});
  EXPECT_DOUBLE_EQ(MatthewsCorrelation(perfect), 1);
  EXPECT_DOUBLE_EQ(F1(perfect), 1);
  EXPECT_DOUBLE_EQ(MatthewsCorrelation(Of(2, {0, 1}, {1, 0})), -1);
  // One class alone is predicted; no example at all.
  EXPECT_EQ(MatthewsCorrelation(Of(2, {0, 1, 1}, {1, 1, 1})), 0);
  EXPECT_EQ(F1(Of(2, {0, 0}, {0, 0})), 0);
  const ConfusionMatrix empty(2);
  EXPECT_EQ(Accuracy(empty), 0);
  EXPECT_EQ(MatthewsCorrelation(empty), 0);
  EXPECT_EQ(PerClassAccuracy(empty), (std::vector<double>{0, 0}));
}

TEST(Metrics, PartsAddUp) {
  ConfusionMatrix sum = Of(2, {0, 1}, {0, 0});
  sum.Add(Of(2, {1, 1}, {1, 0}));
  EXPECT_EQ(sum.At(1, 0), 2);
  EXPECT_EQ(sum.total(), 4);
}

TEST(Metrics, PerplexityIsTheExponentialOfTheMeanLoss) {
  EXPECT_DOUBLE_EQ(Perplexity(10 * std::log(65), 10), 65);
}

TEST(Metrics, RefuseNonsense) {
  ExpectBadInput([] { ConfusionMatrix(0); }, "[metrics]", "1 to 4096 classes, got 0");
  ConfusionMatrix matrix(2);
  ExpectBadInput([&] { matrix.Add(2, 0); }, "[metrics]", "0 to 1, got 2");
  ExpectBadInput([&] { matrix.Add(0, -1); }, "[metrics]", "0 to 1, got -1");
  ExpectBadInput([&] { matrix.Add(ConfusionMatrix(3)); }, "[metrics]", "2 classes, got 3");
  ExpectBadInput([&] { F1(matrix, 2); }, "[metrics]", "0 to 1, got 2");
  ExpectBadInput([] { Perplexity(1, 0); }, "[metrics]", "at least one token");
}

}  // namespace
}  // namespace torus::data
