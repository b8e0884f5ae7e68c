#include "recipes/run/task.h"

#include <algorithm>
#include <map>

#include "data/loading/micro_batch.h"
#include "parallel/optim/lr_schedule.h"
#include "recipes/blocks/build_blocks.h"
#include "recipes/model/model_of.h"
#include "recipes/run/lora.h"
#include "recipes/run/run_codecs.h"
#include "runtime/error.h"

namespace torus::recipes {
namespace {

using parallel::RankPlace;

data::Sampler MakeSampler(const DataPart& part, const Settings& settings, int64_t first_step) {
  data::Sampler sampler({.size = part.size,
                         .batch_size = settings.batch_size,
                         .seed = settings.seed,
                         .shuffle = part.shuffle,
                         .drop_last = settings.drop_last});
  sampler.Seek(sampler.PositionOf(first_step));
  return sampler;
}

// Threads that make batches compete with the ranks, whose `threads` they are beside, so there are
// few.
int Workers(int64_t threads) { return static_cast<int>(std::clamp<int64_t>(threads / 2, 1, 8)); }

// The ranks that fetch each replica's batches.
std::map<int, int> ReadersOf(const std::vector<RankPlace>& places) {
  std::map<int, int> readers;
  for (const RankPlace& place : places)
    if (place.first || place.last) ++readers[place.replica];
  return readers;
}

// None if no rank fetches anything.
std::optional<data::LoaderOptions> MakeLoaderOptions(const Settings& settings,
                                                     const std::vector<RankPlace>& places,
                                                     double timeout, int64_t threads) {
  const std::map<int, int> readers = ReadersOf(places);
  if (readers.empty()) return std::nullopt;
  data::LoaderOptions options{.replicas = static_cast<int>(settings.replicas),
                              .micro_batches = static_cast<int>(PartsOfReplica(settings)),
                              .readers = readers.begin()->second,
                              .workers = Workers(threads),
                              .timeout_seconds = timeout};
  for (const auto& [replica, count] : readers) {
    TORUS_CHECK(count == options.readers, "replica {} has {} readers", replica, count);
    options.local_replicas.push_back(replica);
  }
  return options;
}

// Samples of the smallest batch of an epoch over `size` examples.
int64_t SmallestBatch(const Settings& settings, int64_t size) {
  const int64_t rest = settings.drop_last ? 0 : size % settings.batch_size;
  return rest > 0 ? rest : std::min(settings.batch_size, size);
}

// Samples of its smallest micro-batch that is not empty.
int64_t SmallestMicroBatch(const Settings& settings, int64_t size) {
  return std::max<int64_t>(1, SmallestBatch(settings, size) / PartsOfBatch(settings));
}

// Says why micro-batches are as small as `few`, and what to change.
std::string AdviceForFew(const char* few, const Settings& settings, int64_t size) {
  const int64_t parts = PartsOfBatch(settings), smallest = SmallestBatch(settings, size);
  const std::string cause =
      !settings.drop_last && size % settings.batch_size > 0
          ? fmt::format("{} training examples in batches of {} leave a last one of {}", size,
                        settings.batch_size, smallest)
          : fmt::format("batches of {} examples", smallest);
  return fmt::format(
      "{}, and in {} micro-batches some have {}: choose another --batch-size or fewer "
      "--micro-batches, or leave out the last batch with --drop-last",
      cause, parts, few);
}

// Replicas synchronize in each micro-batch. Samples are dealt out in order, so if any micro-batch
// is empty, the last replica lacks one that the first replica has.
void CheckMeetings(const Settings& settings, int64_t size) {
  Require(!settings.sync_batch_norm || settings.replicas == 1 ||
              SmallestBatch(settings, size) >= PartsOfBatch(settings),
          "train", "--sync-batch-norm needs samples of each replica in each micro-batch; {}",
          AdviceForFew("none", settings, size));
}

// --warmup, or its default.
int64_t WarmupSteps(const Settings& settings, int64_t total_steps) {
  if (settings.warmup >= 0) return settings.warmup;
  if (settings.lr_schedule == "one-cycle") return 0;  // it includes a warm-up
  return std::min<int64_t>(100, total_steps / 10);
}

parallel::LrSchedule ScheduleOf(const Settings& settings, int64_t steps_per_epoch) {
  const int64_t total = steps_per_epoch * settings.epochs;
  return parallel::MakeLrSchedule(settings.lr_schedule,
                                  {.total_steps = total,
                                   .warmup_steps = WarmupSteps(settings, total),
                                   .steps_per_epoch = steps_per_epoch});
}

}  // namespace

BatchFeed::BatchFeed(const DataPart& part, const Settings& settings,
                     const std::vector<RankPlace>& places, int64_t first_step, double timeout,
                     int64_t threads)
    : replicas_(settings.replicas),
      micro_batches_(PartsOfReplica(settings)),
      sampler_(MakeSampler(part, settings, first_step)) {
  if (settings.stages > 1) order_.emplace(sampler_);  // codecs may remember samples
  if (const auto options = MakeLoaderOptions(settings, places, timeout, threads))
    loader_.emplace(sampler_, part.batches, *options);
}

int64_t BatchFeed::SamplesAt(int64_t step) const {
  const data::SamplerOptions& options = sampler_.options();
  const int64_t begin = sampler_.PositionOf(step).number * options.batch_size;
  return std::min(options.batch_size, options.size - begin);
}

parallel::MiniBatch BatchFeed::Get(int64_t step, const RankPlace& place) {
  parallel::MiniBatch batch{.global_samples = SamplesAt(step)};
  const std::vector<int64_t> examples = order_ ? order_->Of(step) : std::vector<int64_t>();
  for (int64_t m = 0; m < micro_batches_; ++m) {
    parallel::MicroBatch& part = batch.micro_batches.emplace_back();
    const data::Range rows = data::PartOf(batch.global_samples, replicas_ * micro_batches_,
                                          place.replica * micro_batches_ + m);
    for (int64_t row = rows.begin; row < rows.end; ++row) part.samples.push_back(row);
    if (order_) part.examples.assign(examples.begin() + rows.begin, examples.begin() + rows.end);
    if (!place.first && !place.last) continue;
    const data::Loader::BatchPtr made = loader_->Fetch(step, place.replica, static_cast<int>(m));
    TORUS_CHECK(made->samples == part.samples, "step {}, micro-batch {}", step, m);
    if (place.first) part.inputs = made->inputs;
    if (place.first) part.prepare = made->prepare;
    if (place.last) part.targets = {made->target};
  }
  return batch;
}

Task::Task(const Settings& settings, std::string weights_file, bool whole)
    : settings_(settings),
      weights_file_(std::move(weights_file)),
      whole_(whole),
      data_(OpenTaskData(whole ? WithoutCache(settings) : settings)) {
  Require(!settings_.drop_last || data_.train.size >= settings_.batch_size, "train",
          "--drop-last leaves nothing of {} examples in batches of {}", data_.train.size,
          settings_.batch_size);
  CheckMeetings(settings_, data_.train.size);
  settings_.warmup = WarmupSteps(settings_, steps_per_epoch() * settings_.epochs);
}

int64_t Task::steps_per_epoch() const {
  const int64_t whole = data_.train.size / settings_.batch_size;
  return settings_.drop_last || data_.train.size % settings_.batch_size == 0 ? whole : whole + 1;
}

std::string Task::title() const {
  return fmt::format("{} on {}", ModelOf(settings_).title, data_.form.title);
}

std::vector<parallel::Block> Task::Blocks() const {
  return BuildBlocks(settings_, data_.form, WeightsSource(weights_file_, settings_.init_part),
                     whole_ ? nullptr : notes_.get(), whole_ ? &notes_->taken : nullptr);
}

double Task::LearningRate(const Settings& settings, int64_t step) const {
  return settings.lr * ScheduleOf(settings, steps_per_epoch())(step);
}

parallel::TrainingParts Task::Parts() const {
  const parallel::LrSchedule factor = ScheduleOf(settings_, steps_per_epoch());
  // Only a micro-batch of one sample can have a single value per channel.
  const bool single = SmallestMicroBatch(settings_, data_.train.size) == 1;
  return {.model = [this] { return Blocks(); },
          .loss = data_.loss,
          .correct = data_.correct,
          .left_out = data_.correct ? CountLeftOut : nullptr,
          .optimizer = OptimizerOf(settings_, data_.form),
          .learning_rate = [factor, lr = settings_.lr](int64_t step) { return lr * factor(step); },
          .largest_inputs = data_.form.inputs(LargestMicroBatch(settings_)),
          .smallest_inputs = single ? data_.form.inputs(1) : std::vector<parallel::TensorSpec>(),
          .smallest_advice = AdviceForFew("one sample", settings_, data_.train.size)};
}

}  // namespace torus::recipes
