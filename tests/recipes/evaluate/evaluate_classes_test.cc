#include "recipes/evaluate/evaluate_classes.h"

#include <gtest/gtest.h>

#include <cmath>

#include "data/loading/stacked_batch.h"
#include "tests/data/temp_file.h"

namespace torus::recipes {
namespace {

// Five examples of two classes, 0 1 0 1 0; each is a row of four numbers. The last `left_out` have
// no class.
class Alternating : public data::Dataset {
 public:
  explicit Alternating(int64_t left_out = 0) : left_out_(left_out) {}
  const data::DatasetInfo& info() const override { return info_; }
  int64_t size() const override { return 5; }
  data::Sample Get(int64_t index) const override {
    return {{Zeros({4})},
            FromVector<int64_t>({index < 5 - left_out_ ? index % 2 : data::kNoClass}, {})};
  }

 private:
  int64_t left_out_;
  data::DatasetInfo info_{.name = "five", .classes = {"even", "odd"}};
};

// Takes every example for class 0.
class Zeroth : public nn::Module {
 public:
  Zeroth(int64_t outputs, float logit) : outputs_(outputs), logit_(logit) {}
  Variable Forward(const Variable& x, const StepContext&) override {
    Tensor logits = Zeros({x.shape()[0], outputs_});
    for (int64_t row = 0; row < logits.dim(0); ++row)
      logits.mutable_data<float>()[row * outputs_] = logit_;
    return Variable(logits);
  }

 private:
  int64_t outputs_;
  float logit_;
};

ClassEvaluation Evaluate(int64_t outputs, float logit = 1, int64_t left_out = 0,
                         const std::vector<int64_t>& order = {}) {
  const Alternating dataset(left_out);
  nn::Sequential model{Zeroth(outputs, logit)};
  return EvaluateClasses(model, data::StackedBatches(dataset), dataset, 2, order);
}

TEST(EvaluateClasses, CountsAllBatches) {
  const ClassEvaluation result = Evaluate(2);
  EXPECT_EQ(result.counts.total(), 5);
  EXPECT_EQ(result.counts.At(0, 0), 3);
  EXPECT_EQ(result.counts.At(1, 0), 2);
}

// Logits 1 and 0 of every example.
TEST(EvaluateClasses, SaysWhatItPredictsOfEachExampleThatCounts) {
  const std::vector<Prediction> all = Evaluate(2, 1, 2).predictions;
  ASSERT_EQ(all.size(), 3u);
  for (int64_t i = 0; i < 3; ++i) {
    EXPECT_EQ(all[i].example, i);
    EXPECT_EQ(all[i].target, i % 2);
    EXPECT_EQ(all[i].predicted, 0);
    EXPECT_NEAR(all[i].probability, 1 / (1 + std::exp(-1.0)), 1e-15);
  }
}

// The first output stands for the second class: the same answers are those of the other class.
TEST(EvaluateClasses, OutputsMayStandForTheClassesInAnotherOrder) {
  const ClassEvaluation same = Evaluate(2, 1, 0, {0, 1}), swapped = Evaluate(2, 1, 0, {1, 0});
  EXPECT_EQ(same.counts.At(0, 0), 3);
  EXPECT_EQ(swapped.counts.At(0, 1), 3);
  EXPECT_EQ(swapped.counts.At(1, 1), 2);
  EXPECT_GT(swapped.loss, same.loss);
}

// Of 0 1 0, one is wrong. Logits 1 and 0: a right one costs log(1 + 1/e), a wrong one 1 more.
TEST(EvaluateClasses, DoesNotCountWhatIsLeftOut) {
  const ClassEvaluation result = Evaluate(2, 1, 2);
  EXPECT_EQ(result.counts.total(), 3);
  EXPECT_EQ(result.counts.correct(), 2);
  EXPECT_NEAR(result.loss, std::log1p(std::exp(-1.0)) + 1.0 / 3, 1e-6);
  data::ExpectBadInput([] { Evaluate(2, 1, 5); }, "[five]",
                       "an example that can be read, got none");
}

// Also where the classes that the dataset has not are never predicted.
TEST(EvaluateClasses, AModelHasAsManyOutputsAsThereAreClasses) {
  data::ExpectBadInput([] { Evaluate(3); }, "[five]", "has 2 classes, but the model puts out 3");
  data::ExpectBadInput([] { Evaluate(1); }, "[five]", "has 2 classes, but the model puts out 1");
}

// A NaN is no answer, though the largest of such logits seems to be the first.
TEST(EvaluateClasses, OutputsThatAreNotFiniteHaveNoScore) {
  data::ExpectBadInput([] { Evaluate(2, std::nanf("")); }, "[five]",
                       "examples 0 to 1 have a loss of nan");
  data::ExpectBadInput([] { Evaluate(2, HUGE_VALF); }, "[five]", "so there is no score");
}

}  // namespace
}  // namespace torus::recipes
