#include "tools/labs/questions/lab_run.h"

#include <algorithm>
#include <utility>

#include "parallel/link/link_table.h"
#include "parallel/transport/decorated_transport.h"
#include "parallel/transport/emulated_link.h"
#include "recipes/run/check_options.h"
#include "recipes/run/collectives.h"
#include "recipes/settings/device.h"
#include "runtime/error.h"
#include "tools/common/stop_signal.h"

namespace torus::labs {
namespace {

constexpr double kTimeout = 120;  // seconds without progress, of ranks that share cores

recipes::Settings Checked(const recipes::Settings& settings, const LabParts& parts) {
  recipes::RunOptions run{.settings = settings};
  run.settings.links = parts.links;
  return recipes::CheckedOptions(std::move(run)).settings;
}

// The first `images` of a part.
recipes::DataPart FirstOf(recipes::DataPart part, int64_t images) {
  if (images > 0) part.size = std::min(part.size, images);
  return part;
}

int64_t WholeBatches(const recipes::DataPart& part, int64_t batch) {
  Require(part.size >= batch, "labs", "{} images do not make one batch of {}", part.size, batch);
  return part.size / batch;
}

// A transport over a link; owns both.
class OverLink : public parallel::DecoratedTransport {
 public:
  OverLink(std::unique_ptr<parallel::Transport> link, std::unique_ptr<parallel::Transport> outer)
      : DecoratedTransport(*outer), link_(std::move(link)), outer_(std::move(outer)) {}

 private:
  const std::unique_ptr<parallel::Transport> link_, outer_;  // the outer one goes first
};

std::vector<Variable> OnCpu(const std::vector<Variable>& outputs) {
  std::vector<Variable> there;
  for (const Variable& output : outputs) there.emplace_back(output.data().To(Device{}));
  return there;
}

std::vector<Tensor> OnCpu(const std::vector<Tensor>& targets) {
  std::vector<Tensor> there;
  for (const Tensor& target : targets) there.push_back(target.To(Device{}));
  return there;
}

}  // namespace

LabRun::LabRun(const recipes::Settings& settings, LabParts parts)
    : parts_(std::move(parts)),
      settings_(Checked(settings, parts_)),
      task_(settings_, settings_.init),
      train_(FirstOf(task_.data().train, parts_.images)),
      test_(FirstOf(task_.data().test, parts_.test_images)),
      batches_per_epoch_(WholeBatches(train_, settings_.batch_size)),
      trainer_(std::make_unique<parallel::Trainer>(Options(), Parts())) {}

parallel::TrainerOptions LabRun::Options() const {
  const recipes::Settings& s = settings_;
  parallel::TrainerOptions options{.device = recipes::KindOf(s.device),
                                   .replicas = static_cast<int>(s.replicas),
                                   .micro_batches = static_cast<int>(s.micro_batches),
                                   .strategy = s.strategy,
                                   .collectives = recipes::CollectivesOf(s, false),
                                   .bucket_bytes = static_cast<size_t>(s.bucket_mb) << 20,
                                   .sync_batch_norm = s.sync_batch_norm,
                                   .threads = static_cast<int>(s.threads),
                                   .timeout = kTimeout,
                                   .seed = s.seed,
                                   .clip_norm = s.clip_norm};
  options.times_gpu_work = parts_.traces;
  options.wrap_transport = [this](parallel::Transport& world) { return Wrapped(world); };
  return options;
}

// Null if nothing wraps the transport.
std::unique_ptr<parallel::Transport> LabRun::Wrapped(parallel::Transport& world) const {
  if (parts_.links.empty()) return parts_.wrap_transport ? parts_.wrap_transport(world) : nullptr;
  auto link = std::make_unique<parallel::EmulatedLink>(world, parallel::ParseLinks(parts_.links),
                                                       settings_.seed);
  if (!parts_.wrap_transport) return link;
  std::unique_ptr<parallel::Transport> outer = parts_.wrap_transport(*link);
  return std::make_unique<OverLink>(std::move(link), std::move(outer));
}

// Every batch is whole, so the smallest micro-batch is as large as the largest.
parallel::TrainingParts LabRun::Parts() {
  parallel::TrainingParts parts = task_.Parts();
  parts.smallest_inputs.clear();
  parts.model = [this] {
    std::vector<parallel::Block> blocks = task_.Blocks();
    if (parts_.on_blocks) parts_.on_blocks(blocks);
    return blocks;
  };
  if (task_.data().correct) parts.loss = CountingLoss();
  parts.learning_rate =
      parts_.learning_rate ? parts_.learning_rate : [rate = settings_.lr](int64_t) { return rate; };
  if (parts_.optimizer) parts.optimizer = parts_.optimizer;
  return parts;
}

parallel::LossFn LabRun::CountingLoss() {
  return [this](const std::vector<Variable>& outputs, const std::vector<Tensor>& targets,
                const StepContext& context) {
    if (counts_) correct_ += task_.data().correct(OnCpu(outputs), OnCpu(targets));
    return task_.data().loss(outputs, targets, context);
  };
}

// A feed continues from epoch to epoch; to repeat the first order, each epoch starts a new feed.
parallel::BatchFn LabRun::Batches() {
  const int64_t step = trainer_->step(), past = step - step % batches_per_epoch_;
  const bool repeats = parts_.repeats_first_order;
  if (!feed_ || (repeats && step == past))
    feed_ = std::make_shared<recipes::BatchFeed>(train_, settings_, trainer_->layout().places(),
                                                 repeats ? step - past : step, kTimeout,
                                                 settings_.threads);
  return [batches = recipes::BatchFeed::Fn(feed_), past = repeats ? past : 0](
             int64_t of, const parallel::RankPlace& place) { return batches(of - past, place); };
}

double LabRun::DataWait() const { return trainer_->totals().ranks.at(0).data_wait; }

Epoch LabRun::TrainEpoch() {
  return TrainSteps(batches_per_epoch_ - trainer_->step() % batches_per_epoch_);
}

Epoch LabRun::TrainSteps(int64_t count) {
  const int64_t begin = trainer_->step(), first = begin % batches_per_epoch_;
  TORUS_CHECK(count >= 1 && first + count <= batches_per_epoch_, "{} steps from step {}", count,
              first);
  Epoch epoch{.number = begin / batches_per_epoch_ + 1};
  const double waited = DataWait();
  const parallel::BatchFn batches = Batches();
  counts_ = true;
  correct_ = 0;
  trace::Drain();
  trainer_->Train(begin + count, batches,
                  {.stop = [] { return tools::StopSignal() != 0; },
                   .trace = [this](int64_t) { return parts_.traces; },
                   .on_step =
                       [&epoch](const parallel::StepReport& step) {
                         epoch.steps += 1;
                         epoch.images += step.samples;
                         epoch.seconds += step.seconds;
                         epoch.loss += step.loss * static_cast<double>(step.samples);
                         epoch.losses.push_back(step.loss);
                       }});
  counts_ = false;
  if (trainer_->step() < begin + count) throw tools::Stopped();
  epoch.data_seconds = DataWait() - waited;
  epoch.loss /= static_cast<double>(epoch.images);
  epoch.accuracy = static_cast<double>(correct_) / static_cast<double>(epoch.images);
  if (parts_.traces) epoch.events = trace::Drain();
  return epoch;
}

TestScore LabRun::Test() {
  recipes::Settings whole = settings_;
  whole.drop_last = false;
  whole.batch_size = std::min(whole.batch_size, test_.size);
  const auto feed = std::make_shared<recipes::BatchFeed>(test_, whole, trainer_->layout().places(),
                                                         0, kTimeout, settings_.threads);
  const parallel::EvaluationResult result =
      trainer_->Evaluate(feed->batches_per_epoch(), recipes::BatchFeed::Fn(feed),
                         [] { return tools::StopSignal() != 0; });
  if (!result.finished) throw tools::Stopped();
  const auto images = static_cast<double>(result.samples);
  return {result.loss, static_cast<double>(result.correct) / images, result.samples};
}

}  // namespace torus::labs
