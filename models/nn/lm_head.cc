#include "models/nn/lm_head.h"

#include "autograd/leaf_alias.h"
#include "models/nn/loss.h"
#include "ops/matmul/linear.h"

namespace torus::nn {

LmHead::LmHead(const Variable& embedding, const std::string& owner, bool in_loss)
    : in_loss_(in_loss), vocabulary_(embedding.dim(0)), weight_(embedding) {
  TieParameter("weight", owner, embedding);
}

LmHead::LmHead(int64_t vocabulary, int64_t width, double stddev, bool in_loss, DType dtype)
    : in_loss_(in_loss),
      vocabulary_(vocabulary),
      weight_(
          AddParameter("weight", {vocabulary, width}, dtype, Normal(0, stddev), TensorSplit{})) {}

void LmHead::OnSplit(const TensorPlace& place) {
  CheckVocabularySplit("lm_head", vocabulary_, place, in_loss_);
}

Variable LmHead::Forward(const Variable& x, const StepContext&) { return ops::Linear(x, weight_); }

std::vector<Variable> LmHead::ForwardAll(const std::vector<Variable>& inputs,
                                         const StepContext& ctx) {
  // The loss runs outside of the scope in which LeafAlias replaces the weight by the alias of this
  // use.
  if (in_loss_ && place().size > 1)
    return {inputs[0], LeafAlias::Of(weight_), VocabularyPart(vocabulary_, place())};
  if (in_loss_) return {inputs[0], LeafAlias::Of(weight_)};
  return {Forward(inputs[0], ctx)};
}

}  // namespace torus::nn
