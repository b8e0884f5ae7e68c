// The codecs of an executor's links: their choice, contexts and state, and the links' traffic.
#include "parallel/pipeline/add_context.h"
#include "parallel/pipeline/executor.h"

namespace torus::parallel {

// `cut`: the first stage after it.
LinkCodecs Executor::CodecsAt(int cut) const {
  const auto at = [cut](const auto& single, const std::shared_ptr<Codec>& others) {
    const auto found = single.find(cut);
    return (found != single.end() ? found->second : others).get();
  };
  return {at(options_.activation_codec_at, options_.activation_codec),
          at(options_.gradient_codec_at, options_.gradient_codec)};
}

// The codecs' context for the tensors of an action.
CodecContext Executor::WhenOf(const Action& action) const {
  CodecContext when{.step = batch_->step, .training = training_, .seed = batch_->seed};
  const bool activations = IsForward(action.kind) || action.kind == ActionKind::kSendActivation ||
                           action.kind == ActionKind::kRecvActivation;
  if (!activations) when.scale = batch_->loss_scale;
  if (action.micro_batch < 0) return when;
  when.micro_batch = action.micro_batch;
  when.samples = batch_->micro_batches[action.micro_batch].examples;
  return when;
}

void Executor::CheckArrived() {
  for (auto& [s, stage] : stages_)
    for (TensorLink* link : stage.Links()) link->CheckArrived();
}

void Executor::SettleCodecs(bool taken) {
  for (auto& [s, stage] : stages_)
    for (TensorLink* link : stage.Links()) link->SettleCodec(taken);
}

std::vector<NamedTensor> Executor::CodecState(int stage) {
  std::vector<NamedTensor> state;
  for (TensorLink* link : stages_.at(stage).Links()) AddCodecState(*link, state);
  return state;
}

void Executor::SetCodecState(const std::map<std::string, Tensor>& state) {
  for (auto& [s, stage] : stages_)
    for (TensorLink* link : stage.Links()) TakeCodecState(state, *link);
}

// Buffers may be reused only after all that the step has sent was received.
void Executor::Flush() {
  for (auto& [s, stage] : stages_) {
    if (stage.activations_sent() == nullptr && stage.gradients_sent() == nullptr &&
        stage.skips().empty())
      continue;
    try {
      const ActionClock::Mark begin = clock_.Begin();
      stage.Flush(clock_.totals());
      clock_.EndTransfer("flush", batch_->step, -1, begin);
    } catch (...) {
      RethrowWithContext(fmt::format("rank {}, stage {}, step {}, end of the step",
                                     transport_.world_rank(), s, batch_->step));
    }
  }
}

std::vector<CutTraffic> Executor::traffic() const {
  std::vector<CutTraffic> all;
  const auto add = [&](const TensorLink* link, int cut, bool forward) {
    if (link != nullptr)
      all.push_back({cut, forward, link->peer(), link->raw_bytes(), link->sent_bytes()});
  };
  for (const auto& [s, stage] : stages_) {
    add(stage.activations_sent(), s + 1, true);
    add(stage.gradients_sent(), s, false);
    const auto& [taken, stashed] = skips_.at(s);
    for (size_t i = 0; i < stashed.size(); ++i)
      add(stage.skips().activation_sent(i), options_.skips[stashed[i]].to, true);
    for (size_t i = 0; i < taken.size(); ++i) add(stage.skips().gradient_sent(i), s, false);
  }
  return all;
}

}  // namespace torus::parallel
