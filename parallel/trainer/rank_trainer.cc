#include "parallel/trainer/rank_trainer.h"

#include <bit>
#include <utility>

#include "parallel/pipeline/add_context.h"
#include "parallel/pipeline/codec_state.h"
#include "parallel/trainer/bytes.h"
#include "parallel/trainer/joint_save.h"
#include "parallel/trainer/rank_codecs.h"
#include "parallel/trainer/replica_tensors.h"
#include "parallel/trainer/shared_folder.h"
#include "parallel/trainer/tensor_slices.h"
#include "parallel/trainer/totals_builder.h"
#include "runtime/binary_counter.h"
#include "runtime/error.h"
#include "runtime/progress.h"
#include "runtime/trace.h"

namespace torus::parallel {
namespace {

double SecondsNow() { return static_cast<double>(trace::Now()) * 1e-9; }

// Adds the seconds between its construction and destruction to `total`.
class Stopwatch {
 public:
  explicit Stopwatch(double& total) : total_(total), begin_(SecondsNow()) {}
  ~Stopwatch() { total_ += SecondsNow() - begin_; }

 private:
  double& total_;
  double begin_;
};

// Switches tracing off at the end, also when an error is thrown.
struct TraceGuard {
  ~TraceGuard() { trace::Enable(false); }
};

uint64_t BytesOf(const std::vector<NamedTensor>& tensors) {
  uint64_t bytes = 0;
  for (const NamedTensor& tensor : tensors) bytes += tensor.value.bytes();
  return bytes;
}

// Of the global mini-batch's samples.
double ShareOf(const MiniBatch& batch) {
  size_t samples = 0;
  for (const MicroBatch& part : batch.micro_batches) samples += part.samples.size();
  return static_cast<double>(samples) / static_cast<double>(batch.global_samples);
}

NextStep Decide(int64_t step, int64_t end, const TrainHooks& hooks) {
  NextStep next;
  if (step >= end || hooks.stop_token.stop_requested() || (hooks.stop && hooks.stop())) return next;
  next.run = 1;
  if (hooks.trace) next.trace = hooks.trace(step) ? NextStep::kOn : NextStep::kOff;
  return next;
}

}  // namespace

void RankTrainer::RethrowWithReplica() const {
  if (layout_.replicas() == 1) throw;
  RethrowWithContext(fmt::format("replica {}", place_.replica));
}

MiniBatch RankTrainer::Fetch(const BatchFn& batches, int64_t step) try {
  SayActivity("the fetch of its batch", step);
  const Stopwatch watch(data_wait_);
  const trace::Scope scope("data", "data", step);
  MiniBatch batch = batches(step, place_);
  batch.seed = options_.seed;
  batch.step = step;
  return batch;
} catch (...) {
  RethrowWithContext(fmt::format("rank {}, step {}, data", place_.rank, step));
}

void RankTrainer::Train(int64_t end, const BatchFn& batches, const TrainHooks& hooks) {
  UseOwnThreads();
  const auto scope = ThreadScope();
  RunSteps(end, batches, hooks);
  CheckSkipped();
}

void RankTrainer::RunSteps(int64_t end, const BatchFn& batches, const TrainHooks& hooks) try {
  const TraceGuard guard;
  const RankCounts before = Counts();
  step_ended_ = SecondsNow();
  feed_.Open([&](int64_t step) { return Fetch(batches, step); }, end);
  agreement_.Begin(step_, [&](int64_t step) { return Decide(step, end, hooks); });
  while (agreement_.next().run != 0 && skipped_ < options_.max_skipped) {
    const Stopwatch watch(wall_);
    SayActivity("the beginning of its step", step_);
    const MiniBatch batch = BeginStep();
    executor_->Run(batch, RunMode::kTrain);
    feed_.Release();
    EndStep(batch, hooks);
  }
  RankCounts counts = Counts().Since(before);
  const SquaredDrift drift = update_.Drift();
  counts.drift_distance = drift.distance;
  counts.drift_weights = drift.weights;
  AddTotals(counts);
  // Replica 0's running statistics are the run's (TrainState::weights).
  update_.BroadcastBuffers();
} catch (...) {
  RethrowWithReplica();
}

// Takes the batch of the next step.
MiniBatch RankTrainer::BeginStep() {
  const NextStep& next = agreement_.next();
  if (next.trace != NextStep::kAsItIs) trace::Enable(next.trace == NextStep::kOn);
  learning_rate_ = parts_.learning_rate(step_);
  MiniBatch batch = feed_.Take(step_);
  batch.loss_scale = LossScaleValue();
  update_.BeginStep(step_, batch.loss_scale);
  share_ = ShareOf(batch);
  micro_batches_ = static_cast<int>(batch.micro_batches.size());
  CheckList();
  if (SyncsBatchNorm()) CheckSamples(batch);
  return batch;
}

// Only with a power of two are a replica's micro-batches a node of the tree over all.
void RankTrainer::CheckList() const {
  Require(!options_.reproducible || layout_.replicas() == 1 ||
              std::has_single_bit(static_cast<unsigned>(micro_batches_)),
          "trainer", "reproducible needs 1, 2, 4, 8, ... micro-batches of each replica, got {}",
          micro_batches_);
}

bool RankTrainer::SyncsBatchNorm() const {
  return options_.sync_batch_norm && layout_.replicas() > 1;
}

// The others would wait forever for a replica that skips a micro-batch. All replicas throw the same
// error.
void RankTrainer::CheckSamples(const MiniBatch& batch) {
  std::vector<std::byte> own;  // for each micro-batch, whether it has samples
  for (const MicroBatch& part : batch.micro_batches)
    own.push_back(std::byte{!part.samples.empty()});
  const auto all = replicas_.ShareRecord(own, "which micro-batches have samples");
  for (size_t i = own.size(); i < all.size(); ++i) {
    const size_t replica = i / own.size(), m = i % own.size();
    const bool first = all[m] != std::byte{0};
    Require(all[i] == all[m], "trainer",
            "sync_batch_norm needs samples of all replicas or of none in each micro-batch; in step "
            "{}, micro-batch {} has some on replica {} and none on replica {}",
            batch.step, m, first ? 0 : replica, first ? replica : 0);
  }
}

void RankTrainer::EndStep(const MiniBatch& batch, const TrainHooks& hooks) {
  SayActivity("the end of its step", step_);
  const bool skipped = agreement_.skipped();
  executor_->SettleCodecs(!skipped);
  update_.EndStep(!skipped);
  const double now = SecondsNow(), seconds = now - std::exchange(step_ended_, now);
  const bool rescaled = loss_scale_ && loss_scale_->Update(skipped);
  skipped_ = skipped && !rescaled ? skipped_ + 1 : 0;
  totals_.loss_scale = loss_scale().value;
  totals_.steps += 1;
  totals_.samples += batch.global_samples;
  totals_.skipped_steps += skipped ? 1 : 0;
  totals_.graph_steps = executor_->launched_steps();
  totals_.graph_checks = update_.launched_checks();
  totals_.graph_updates = update_.launched_updates();
  totals_.why_no_graph = executor_->why_no_graph();
  if (totals_.why_no_graph.empty()) totals_.why_no_graph = update_.why_no_graph();
  totals_.seconds += seconds;
  const int64_t step = step_++;
  if (place_.rank != 0 || !hooks.on_step) return;
  TickProgress();  // the hook may be gone for a thread that was left behind
  hooks.on_step({step, agreement_.loss(), batch.global_samples, skipped, learning_rate_, seconds,
                 update_.gradient_norm()});
}

// Resets the count, so that an application may continue, for example with a smaller learning rate.
void RankTrainer::CheckSkipped() {
  if (skipped_ < options_.max_skipped) return;
  Throw<TooManySkipped>("trainer",
                        "gave up after {} steps in a row, {} to {}, whose loss or gradients were "
                        "not finite; they changed nothing",
                        std::exchange(skipped_, 0), step_ - options_.max_skipped, step_ - 1);
}

EvaluationResult RankTrainer::Evaluate(int64_t count, const BatchFn& batches,
                                       const std::function<bool()>& stop) try {
  UseOwnThreads();
  const auto scope = ThreadScope();
  EvaluationResult result;
  feed_.Open([&](int64_t step) { return Fetch(batches, step); }, count);
  score_ = {};
  scoring_ = true;
  update_.EnterEvaluation();
  int64_t step = 0;
  std::vector<int64_t> samples;  // of each batch
  const auto goes_on = [&] {
    const bool more = place_.rank != 0 || (step < count && !(stop && stop()));
    return world_.Announce(more ? 1 : 0, fmt::format("whether there is a batch {}", step)) != 0;
  };
  for (; goes_on(); ++step) {
    const MiniBatch batch = feed_.Take(step);
    score_.losses.push_back(executor_->Run(batch, RunMode::kEvaluate).loss);
    feed_.Release();
    samples.push_back(batch.global_samples);
  }
  update_.LeaveEvaluation();
  scoring_ = false;
  result.finished = step == count;
  SumScores(samples, result);
  return result;
} catch (...) {
  RethrowWithReplica();
}

// Sums each batch's loss as a step does, so it depends only on the list of micro-batches.
void RankTrainer::SumScores(const std::vector<int64_t>& samples, EvaluationResult& result) {
  std::vector<std::vector<double>> losses(samples.size());
  const auto all =
      world_.ShareBytes(std::as_bytes(std::span(score_.losses)), "losses of an evaluation");
  for (const RankPlace& place : layout_.places()) {
    if (!place.tells_loss()) continue;
    ByteReader reader(all[place.rank]);
    for (std::vector<double>& of_batch : losses) of_batch.push_back(reader.Get<double>());
  }
  for (size_t i = 0; i < samples.size(); ++i) {
    result.loss += TreeSum(losses[i]) * static_cast<double>(samples[i]);
    result.samples += samples[i];
  }
  for (const int64_t left_out : world_.Share(score_.left_out, "what an evaluation left out"))
    result.samples -= left_out;
  if (result.samples > 0) result.loss /= static_cast<double>(result.samples);
  for (const int64_t correct : world_.Share(score_.correct, "scores of an evaluation"))
    result.correct += correct;
}

RankCounts RankTrainer::Counts() const {
  RankCounts counts{.times = executor_->totals(),
                    .data_wait = data_wait_,
                    .wall = wall_,
                    .cuts = executor_->traffic()};
  const std::vector<int> ranks = layout_.PipelineOf(place_.replica, place_.tensor.rank);
  for (CutTraffic& cut : counts.cuts) cut.peer = ranks[cut.peer];
  for (int peer = 0; peer < world_.size(); ++peer)
    counts.reduced_bytes.push_back(world_.transport().BytesSent(peer, TagClass::kCollective));
  for (int peer = 0; peer < world_.size(); ++peer)
    counts.computed_bytes.push_back(world_.transport().BytesComputed(peer));
  // Shares of what crosses a cut are gathered under the tags of the cut.
  for (const int peer : layout_.TensorRanksOf(place_.replica, place_.pipeline_rank))
    for (const TagClass kind : {TagClass::kActivation, TagClass::kGradient})
      counts.reduced_bytes[peer] += world_.transport().BytesSent(peer, kind);
  counts.uncoded_bytes = counts.reduced_bytes;
  const std::vector<int> replicas = layout_.ReplicasOf(place_.pipeline_rank, place_.tensor.rank);
  const std::vector<int64_t> saved = update_.SavedBytes();
  for (size_t r = 0; r < saved.size(); ++r)
    counts.uncoded_bytes[replicas[r]] += static_cast<uint64_t>(saved[r]);  // may be negative
  counts.threads = team_;
  counts.peak_bytes = update_.peak_bytes();
  for (const auto& [number, state] : update_.States()) {
    counts.weights_bytes += state.replicas->WeightBytes() + BytesOf(state.stage->Buffers());
    counts.optimizer_bytes += state.optimizer->StateBytes();
  }
  return counts;
}

void RankTrainer::AddTotals(const RankCounts& segment) {
  const auto all = world_.Gather(ToBytes(segment), "counts of a rank");
  if (place_.rank != 0) AddSegment(place_, segment, totals_);
  for (size_t rank = 0; rank < all.size(); ++rank)
    AddSegment(layout_.place(static_cast<int>(rank)), CountsFrom(all[rank]), totals_);
  totals_.bubble = MeasureBubble(schedule_, totals_.ranks);
}

std::vector<StageState> RankTrainer::OwnStages() const {
  std::vector<StageState> stages;
  for (const auto& [number, state] : update_.States()) stages.push_back(state);
  return stages;
}

std::map<int, StageTensors> RankTrainer::OwnTensors() {
  std::map<int, StageTensors> tensors;
  for (const auto& [number, state] : update_.States()) {
    const auto owns = [this, stage = number](const std::string& parameter) {
      return model_.table.entries()[model_.table.IndexOf(parameter)].stages.front() == stage;
    };
    const std::string what = fmt::format("state of stage {}", number);
    tensors[number] = TensorsOf(state, owns, what);
    if (place_.replica == 0) JoinSlices(tensor_, model_, tensors[number], what);
    tensors[number].codecs = CodecsOf(number, *state.replicas);
    if (state.replicas->exchanges_weights())
      tensors[number].replicas = ReplicaTensors({tensor_, model_, place_.replica, replicas_.size()},
                                                number, state, owns, what);
  }
  return tensors;
}

std::exception_ptr RankTrainer::Save(const std::string& folder,
                                     const std::map<std::string, std::string>& texts) {
  SayActivity("the writing of a checkpoint", step_);
  std::map<int, StageTensors> own = OwnTensors();
  if (OwnsState()) return SaveTogether(world_, folder, step_, loss_scale(), own, texts);
  std::map<int, StageTensors> parts;
  for (auto& [number, tensors] : own) parts[PartOfOthers(number)] = PartOfOther(std::move(tensors));
  return SaveTogether(world_, folder, step_, loss_scale(), parts, texts);
}

std::exception_ptr RankTrainer::CheckSharedFolder(const std::string& folder) {
  return parallel::CheckSharedFolder(world_, folder);
}

void RankTrainer::SetWeights(const TensorSource& weights) {
  CopyWeights(SlicesOf(weights, model_), model_.weights, OwnStages());
  skipped_ = 0;
}

// The part of a checkpoint or state for this rank's codecs: after those of the ranks before it.
int RankTrainer::PartOfOthers(int stage) const {
  const int pipelines = place_.replica * place_.tensor.size + place_.tensor.rank;
  return stage + pipelines * schedule_.num_stages;
}

std::string RankTrainer::CodecPrefix() const { return PipelineName(place_) + "/"; }

std::vector<NamedTensor> RankTrainer::CodecsOf(int stage, const ReplicaStrategy& replicas) const {
  std::vector<NamedTensor> codecs = executor_->CodecState(stage);
  for (const auto& [key, memory] : replicas.codec_memories())
    AddMemory(fmt::format("stage {}/{}/", stage, key), memory, codecs);
  for (NamedTensor& memory : codecs) memory.name = CodecPrefix() + memory.name;
  return codecs;
}

void RankTrainer::SetCodecs(const TensorSource& codecs) {
  const std::string prefix = CodecPrefix();
  std::map<std::string, Tensor> own;
  for (const auto& [name, spec] : codecs.specs)
    if (name.starts_with(prefix)) own[name.substr(prefix.size())] = codecs.read(name);
  executor_->SetCodecState(own);
  for (const auto& [number, state] : update_.States())
    state.replicas->SetCodecMemories(TakeMemory(own, fmt::format("stage {}/", number)).parts);
}

void RankTrainer::SetState(const StateSource& state) {
  SetWeights(state.weights);
  CopyOptimizer(SlicesOf(state.optimizer, model_), model_.weights, OwnStages());
  CopyAverages(SlicesOf(state.averages, model_), OwnStages());
  SetReplicaTensors({tensor_, model_, place_.replica, replicas_.size()}, state.replicas,
                    OwnStages());
  SetCodecs(state.codecs);
  if (loss_scale_ && state.loss_scale.value > 0) loss_scale_->SetState(state.loss_scale);
  step_ = state.step;
}

}  // namespace torus::parallel
