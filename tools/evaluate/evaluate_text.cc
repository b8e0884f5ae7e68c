#include "tools/evaluate/evaluate_text.h"

#include <algorithm>

#include "autograd/node.h"
#include "data/stacked_batch.h"
#include "data/text/windows.h"
#include "models/gpt2/gpt2.h"
#include "tools/evaluate/evaluate_classes.h"

namespace torus::tools {

TextEvaluation EvaluateText(nn::Sequential& model, const data::Tokens& tokens, int64_t length,
                            int64_t batch) {
  const NoGrad no_grad;
  const data::DisjointWindows windows(tokens, length);
  const data::MakeBatch batches = data::StackedBatches(windows);
  TextEvaluation result;
  for (int64_t begin = 0; begin < windows.size(); begin += batch) {
    const data::Batch made = batches(Rows(begin, std::min(windows.size(), begin + batch)));
    const std::vector<Variable> outputs =
        model.ForwardAll({Variable(made.inputs[0])}, {.training = false, .samples = made.samples});
    const auto count = static_cast<double>(made.target.numel());
    result.loss += count * NextTokenLoss(outputs, made.target).data().Item();
    result.tokens += made.target.numel();
  }
  result.loss /= static_cast<double>(result.tokens);
  return result;
}

}  // namespace torus::tools
