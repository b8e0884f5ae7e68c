#include "parallel/pipeline/stage_runner.h"

#include <algorithm>
#include <cmath>
#include <utility>

#include "autograd/node.h"
#include "runtime/error.h"

namespace torus::parallel {
namespace {

// The gradient of the loss; undefined where it is what Backward takes by itself, which rules then
// know to be 1.
Tensor SeedOf(const Variable& loss, double seed) {
  if (seed == 1 && loss.numel() == 1) return {};
  return Full(loss.shape(), seed, loss.dtype(), loss.data().device());
}

}  // namespace

StageRunner::StageRunner(Stage& stage, int number, const LossFn* loss, int slots)
    : stage_(stage),
      number_(number),
      loss_fn_(loss),
      in_flight_(slots),
      inputs_(slots),
      outputs_(slots),
      output_grads_(slots),
      input_grads_(slots),
      skips_(slots) {}

void StageRunner::Connect(const Neighbours& n, const std::vector<TensorSpec>& in,
                          const std::vector<TensorSpec>& out) {
  before_ = n.before.here;
  after_ = n.after.here;
  const auto link = [&](std::optional<TensorLink> & place, TagClass kind,
                        bool with_before) -> auto& {
    const LinkCodecs& codecs = with_before ? n.codecs_before : n.codecs_after;
    Codec* codec = kind == TagClass::kActivation ? codecs.activation : codecs.gradient;
    const TensorLink::Options options{n.transport,
                                      with_before ? n.before.rank : n.after.rank,
                                      kind,
                                      with_before ? number_ : number_ + 1,
                                      with_before ? n.place_before : n.place_after,
                                      codec,
                                      n.encoder,
                                      n.device,
                                      n.warmup,
                                      n.samples_folder,
                                      n.sharers};
    return place.emplace(options, with_before ? in : out, static_cast<int>(inputs_.size()));
  };
  if (n.before.rank >= 0) {
    link(activation_in_, TagClass::kActivation, true).PrepareToRecv();
    link(gradient_out_, TagClass::kGradient, true).PrepareToSend();
  }
  if (n.after.rank >= 0) {
    link(activation_out_, TagClass::kActivation, false).PrepareToSend();
    link(gradient_in_, TagClass::kGradient, false).PrepareToRecv();
  }
}

void StageRunner::Begin() {
  losses_.Clear();
  for (InFlight& flight : in_flight_) flight = {};
  for (auto* link : {&activation_in_, &activation_out_, &gradient_in_, &gradient_out_})
    if (*link) (*link)->ResetFinite();
  for (auto* link : {&activation_in_, &gradient_in_})
    if (*link) (*link)->Forget();
  skips_.Begin();
}

std::vector<Variable> StageRunner::Leaves(Tensors inputs, bool training) const {
  std::vector<Variable> leaves;
  for (Tensor& input : inputs) {
    const bool wants_grad = training && number_ > 0 && input.defined() && IsFloating(input.dtype());
    leaves.push_back(input.defined() ? Variable(std::move(input), wants_grad) : Variable());
  }
  return leaves;
}

Variable StageRunner::AddLoss(const std::vector<Variable>& outputs, const Tensors& targets,
                              double weight, const StepContext& context) {
  Variable loss = (*loss_fn_)(outputs, targets, context);
  Require(loss.defined() && loss.numel() == 1, "loss", "must have one element, got {}", loss);
  losses_.Add(context.micro_batch, weight, loss.data());
  return loss;
}

double StageRunner::loss() const { return losses_.Sum(); }

void StageRunner::Forward(size_t slot, const MicroBatch& data, const LossFactors& loss,
                          const StepContext& context) {
  std::optional<NoGrad> no_grad;
  if (!context.training) no_grad.emplace();
  InFlight flight{.seed = loss.weight * loss.scale};
  Tensors inputs = number_ == 0 ? data.inputs : std::exchange(inputs_[slot], {});
  skips_.AppendTaken(slot, inputs);
  flight.inputs = Leaves(std::move(inputs), context.training);
  flight.outputs = stage_.Forward(flight.inputs, context);
  if (loss_fn_ != nullptr) {
    flight.outputs = {AddLoss(flight.outputs, data.targets, loss.weight, context)};
  } else {
    Tensors& results = after_ != nullptr ? after_->inputs_[slot] : outputs_[slot];
    results.clear();
    for (const Variable& output : flight.outputs) results.push_back(output.data());
    skips_.SplitStashed(slot, results);
  }
  if (context.training) in_flight_[slot] = std::move(flight);
}

void StageRunner::Backward(size_t slot, bool inputs_only) {
  InFlight flight = std::exchange(in_flight_[slot], {});
  Tensors output_grads = std::exchange(output_grads_[slot], {});
  skips_.AppendStashedGradients(slot, output_grads);
  Tensors grads = RunBackward(flight, output_grads, inputs_only);
  skips_.SplitTakenGradients(slot, grads);
  if (inputs_only) in_flight_[slot].deferred = std::move(flight.deferred);
  if (number_ > 0)
    (before_ != nullptr ? before_->output_grads_ : input_grads_)[slot] = std::move(grads);
}

StageRunner::Tensors StageRunner::RunBackward(InFlight& flight, const Tensors& output_grads,
                                              bool defer) {
  std::vector<Variable> outputs;
  Tensors seeds;
  for (size_t i = 0; i < flight.outputs.size(); ++i) {
    const Variable& output = flight.outputs[i];
    if (!output.defined() || !output.requires_grad()) continue;
    if (loss_fn_ == nullptr && !output_grads.at(i).defined()) continue;
    outputs.push_back(output);
    seeds.push_back(loss_fn_ == nullptr ? output_grads[i] : SeedOf(output, flight.seed));
  }
  BackwardOptions options{.defer_leaves = defer};
  std::vector<size_t> wanted;
  for (size_t i = 0; i < flight.inputs.size(); ++i) {
    if (!flight.inputs[i].defined() || !flight.inputs[i].requires_grad()) continue;
    wanted.push_back(i);
    options.wanted.push_back(flight.inputs[i]);
  }
  Tensors input_grads(flight.inputs.size());
  if (outputs.empty()) return input_grads;
  BackwardResult result = torus::Backward(outputs, seeds, options);
  for (size_t i = 0; i < wanted.size(); ++i) input_grads[wanted[i]] = result.wanted[i];
  flight.deferred = std::move(result.deferred);
  return input_grads;
}

void StageRunner::BackwardWeight(size_t slot) {
  InFlight flight = std::exchange(in_flight_[slot], {});
  if (!flight.deferred.empty()) flight.deferred.Run();
}

bool StageRunner::Expect(ActionKind kind, size_t slot, const std::string& what) {
  TensorLink& link = kind == ActionKind::kRecvActivation ? *activation_in_ : *gradient_in_;
  return link.Expect(static_cast<int>(slot), what);
}

void StageRunner::Advance() {
  if (activation_in_) activation_in_->Advance();
  if (gradient_in_) gradient_in_->Advance();
  skips_.Advance();
}

void StageRunner::CheckSent(bool wait) {
  if (activation_out_) activation_out_->CheckSent(wait);
  if (gradient_out_) gradient_out_->CheckSent(wait);
  skips_.CheckSent(wait);
}

void StageRunner::Transfer(ActionKind kind, size_t slot, const std::string& what,
                           RankTotals& totals, const CodecContext& when) {
  const int m = static_cast<int>(slot);
  switch (kind) {
    case ActionKind::kSendActivation:
      return activation_out_->Send(m, std::exchange(outputs_[slot], {}), what, totals, when);
    case ActionKind::kRecvActivation:
      inputs_[slot] = activation_in_->Recv(m, what, totals, when);
      return;
    case ActionKind::kSendGradient:
      return gradient_out_->Send(m, std::exchange(input_grads_[slot], {}), what, totals, when);
    default:
      output_grads_[slot] = gradient_in_->Recv(m, what, totals, when);
  }
}

void StageRunner::Flush(RankTotals& totals) {
  if (activation_out_) activation_out_->Flush(totals);
  if (gradient_out_) gradient_out_->Flush(totals);
  skips_.Flush(totals);
}

std::vector<TensorLink*> StageRunner::Links() {
  std::vector<TensorLink*> links = skips_.Links();
  for (auto* link : {&activation_in_, &activation_out_, &gradient_in_, &gradient_out_})
    if (*link) links.push_back(&**link);
  return links;
}

bool StageRunner::finite() const {
  bool finite = std::isfinite(loss()) && skips_.finite();
  for (const auto* link : {&activation_in_, &activation_out_, &gradient_in_, &gradient_out_})
    finite = finite && (!*link || (*link)->finite());
  return finite;
}

}  // namespace torus::parallel
