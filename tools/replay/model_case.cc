#include "tools/replay/model_case.h"

#include <algorithm>
#include <cmath>
#include <numeric>

#include "autograd/backward.h"
#include "models/checkpoint/state_dict.h"
#include "models/gpt2/gpt2.h"
#include "models/model_spec.h"
#include "ops/loss/cross_entropy.h"
#include "ops/loss/mse_loss.h"
#include "ops/view/view.h"

namespace torus::replay {
namespace {

bool EndsWith(const std::string& name, const char* end) { return name.ends_with(end); }

// Classes of rows, the next token of each place, or numbers: as transformers chooses.
Variable Loss(const Variable& logits, const Tensor& labels) {
  if (logits.rank() == 3) {
    const Shape rows{logits.dim(0) * logits.dim(1), logits.dim(2)};
    return ops::CrossEntropy(ops::Reshape(logits, rows),
                             Variable(NextTokens(labels).View({rows[0]})));
  }
  if (!IsFloating(labels.dtype()) && logits.dim(-1) > 1)
    return ops::CrossEntropy(logits, Variable(labels));
  const Variable numbers(labels.To(logits.dtype()));
  if (logits.dim(-1) > 1) return ops::BinaryCrossEntropyWithLogits(logits, numbers);
  return ops::MseLoss(ops::Reshape(logits, {-1}), ops::Reshape(numbers, {-1}));
}

double NormOfDeviations(const Tensor& variances) {
  const std::vector<double> values = ToVector<double>(variances.To(DType::kF64));
  return std::sqrt(std::accumulate(values.begin(), values.end(), 0.0));
}

Tensor Step(const Tensor& tensor, std::optional<int64_t> step) {
  return step ? tensor.Select(0, *step).Contiguous() : tensor;
}

}  // namespace

std::shared_ptr<nn::Sequential> BuildModel(const Case& c) {
  const std::string name = c.spec.value("model", "");
  const nlohmann::json given = c.spec.value("config", nlohmann::json());
  try {
    const auto model = ParseModelSpec(name).build(
        given.is_null() ? nlohmann::json::object() : given, name, {.dropout = false});
    model->Allocate(c.device);
    return model;
  } catch (const BadInput& error) {
    throw Unsupported(error.what());
  }
}

CaseBatch BatchOf(const Case& c, std::optional<int64_t> step) {
  CaseBatch batch{.labels = Step(c.Get("in.labels"), step)};
  if (c.Find("in.images").defined()) {
    batch.inputs = {Step(c.Get("in.images"), step).Permute({0, 2, 3, 1}).Contiguous()};
    return batch;
  }
  batch.inputs = {Step(c.Get("in.input_ids"), step)};
  const Tensor mask = c.Find("in.attention_mask"), types = c.Find("in.token_type_ids");
  if (mask.defined() || types.defined())
    batch.inputs.push_back(mask.defined() ? Step(mask, step) : Tensor());
  if (types.defined()) batch.inputs.push_back(Step(types, step));
  return batch;
}

void LoadState(nn::Module& model, const std::map<std::string, Tensor>& state,
               const std::string& where) {
  std::vector<NamedTensor> tensors;
  for (const auto& [name, tensor] : state) tensors.push_back({name, tensor});
  for (const NamedTensor& buffer : model.Buffers())
    if (EndsWith(buffer.name, "num_batches_tracked") && !state.contains(buffer.name))
      tensors.push_back({buffer.name, Zeros({}, DType::kI64)});
  LoadStateDict(model, tensors, where);
}

StepResult RunStep(nn::Sequential& model, const CaseBatch& batch) {
  StepContext ctx;
  for (int64_t i = 0; i < batch.labels.dim(0); ++i) ctx.samples.push_back(i);
  for (NamedVariable& parameter : model.Parameters()) parameter.value.ZeroGrad();
  std::vector<Variable> inputs;
  for (const Tensor& input : batch.inputs)
    inputs.push_back(input.defined() ? Variable(input) : Variable());
  StepResult step;
  step.logits = model.ForwardAll(inputs, ctx)[0];
  step.loss = Loss(step.logits, batch.labels);
  Backward({step.loss});
  model.EndMiniBatch();
  return step;
}

StepResult RunStep(nn::Sequential& model, const Tensor& images, const Tensor& labels) {
  return RunStep(model, {{images.Permute({0, 2, 3, 1}).Contiguous()}, labels});
}

void CheckRunningStatistics(const nn::Module& model, const std::map<std::string, Tensor>& wanted,
                            const std::string& prefix, const ModelTolerance& tolerance,
                            Comparison& result) {
  for (const NamedTensor& buffer : model.Buffers()) {
    const auto want = wanted.find(buffer.name);
    if (want == wanted.end()) continue;
    double norm = Norm(want->second);
    if (EndsWith(buffer.name, "running_mean")) {
      const std::string layer = buffer.name.substr(0, buffer.name.size() - 4);
      if (const auto var = wanted.find(layer + "var"); var != wanted.end())
        norm = std::max(norm, NormOfDeviations(var->second));
    }
    result.CheckNorm(prefix + buffer.name, buffer.value, want->second,
                     tolerance.Statistic(buffer.name, norm));
  }
}

}  // namespace torus::replay
