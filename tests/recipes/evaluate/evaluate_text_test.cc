// How well a model predicts a text, also where there is nothing that it should predict.
#include "recipes/evaluate/evaluate_text.h"

#include <gtest/gtest.h>

#include <cmath>

#include "data/text/open_tokenizer.h"
#include "tests/data/temp_file.h"
#include "tests/data/text/small_bpe.h"

namespace torus::recipes {
namespace {

constexpr int64_t kPad = 259, kVocabulary = 263;

// The same logit for every token at every place.
class Uniform : public nn::Module {
 public:
  explicit Uniform(float logit) : logit_(logit) {}
  Variable Forward(const Variable& x, const StepContext&) override {
    return Variable(Full({x.shape()[0], x.shape()[1], kVocabulary}, logit_));
  }

 private:
  float logit_;
};

data::TokenMasker Masker() {
  const std::string dir = data::TestFolder();
  data::WriteSmallBpe(dir, {"<s>", "<pad>", "</s>", "<unk>", "<mask>"});
  return data::TokenMasker(*data::OpenRoberta(dir));
}

TextEvaluation Masked(std::vector<int32_t> ids, float logit = 0) {
  nn::Sequential model{Uniform(logit)};
  const data::TokenVector tokens("text", kVocabulary, std::move(ids));
  return EvaluateMaskedText(model, tokens, 6, 2, Masker());
}

// Rows of four tokens, of which one is masked: not where all of them are special.
TEST(EvaluateMaskedText, ABatchWithoutTargetsDoesNotCount) {
  std::vector<int32_t> ids(16, kPad);
  ids.resize(33, 7);  // the last one begins no row
  const TextEvaluation result = Masked(ids);
  EXPECT_EQ(result.tokens, 4);
  EXPECT_NEAR(result.loss, std::log(kVocabulary), 1e-5);
}

TEST(EvaluateMaskedText, ATextWithoutTargetsIsRefused) {
  data::ExpectBadInput([] { Masked(std::vector<int32_t>(17, kPad)); }, "[text]",
                       "has no token that is to be predicted, in 4 rows");
}

TEST(EvaluateMaskedText, OutputsThatAreNotFiniteHaveNoScore) {
  data::ExpectBadInput([] { Masked(std::vector<int32_t>(16, 7), std::nanf("")); }, "[text]",
                       "examples 0 to 1 have a loss of nan");
}

}  // namespace
}  // namespace torus::recipes
