#include "recipes/run/make_trainer_options.h"

#include "parallel/link/link_table.h"
#include "parallel/transport/emulated_link.h"
#include "recipes/run/collectives.h"
#include "recipes/run/run_codecs.h"
#include "recipes/run/shared_facts.h"
#include "recipes/settings/device.h"

namespace torus::recipes {
namespace {

parallel::CudaGraphs GraphsNamed(const std::string& name) {
  if (name == "off") return parallel::CudaGraphs::kOff;
  return name == "on" ? parallel::CudaGraphs::kOn : parallel::CudaGraphs::kAuto;
}

}  // namespace

parallel::TrainerOptions MakeTrainerOptions(const RunOptions& run, const CutChoice& cuts, bool nccl,
                                            const Task& task, RunPlans& plans) {
  const Settings& s = run.settings;
  parallel::TrainerOptions options{.device = KindOf(s.device),
                                   .stages = static_cast<int>(s.stages),
                                   .chunks = static_cast<int>(s.chunks),
                                   .cuts = cuts.cuts,
                                   .replicas = static_cast<int>(s.replicas),
                                   .tensor = static_cast<int>(s.tensor),
                                   .share_cuts = s.tensor_cuts == "shared",
                                   .micro_batches = static_cast<int>(s.micro_batches),
                                   .schedule = s.schedule,
                                   .strategy = s.strategy,
                                   .collectives = CollectivesOf(s, nccl && s.links.empty()),
                                   .bucket_bytes = static_cast<size_t>(s.bucket_mb) << 20,
                                   .reproducible = s.reproducible,
                                   .sync_batch_norm = s.sync_batch_norm,
                                   .threads = static_cast<int>(s.threads),
                                   .timeout = run.timeout,
                                   .grace = run.grace,
                                   .seed = s.seed,
                                   .clip_norm = s.clip_norm,
                                   .gradient_norm = s.gradient_norm,
                                   .max_skipped = run.max_skipped,
                                   .ema_decay = s.ema};
  if (s.precision == "f16") options.loss_scale.emplace();
  options.cuda_graphs = GraphsNamed(run.cuda_graphs);
  options.times_gpu_work = run.times_gpu_work;
  options.generator = run.schedule;
  options.wrap_transport = run.wrap_transport;
  if (!s.links.empty())
    options.wrap_transport = [links = parallel::ParseLinks(s.links), seed = s.seed,
                              time = run.link_time](auto& inner) {
      return std::make_unique<parallel::EmulatedLink>(inner, links, seed, time);
    };
  if (KindOf(s.device) == DeviceKind::kCuda)
    options.thread_scope = [&plans](const parallel::RankPlace& place, Device gpu) {
      return plans.Use(place, gpu);
    };
  SetCodecs(s, options);
  options.facts = DataFacts(task.data());
  return options;
}

parallel::TrainingParts MakeTrainingParts(const Task& task, const RunOptions& run) {
  parallel::TrainingParts parts = task.Parts();
  if (run.learning_rate) parts.learning_rate = run.learning_rate;
  return parts;
}

}  // namespace torus::recipes
