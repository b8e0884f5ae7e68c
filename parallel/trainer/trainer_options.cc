#include "parallel/trainer/trainer_options.h"

#include <cmath>

#include "parallel/data_parallel/strategy_factory.h"
#include "runtime/error.h"
#include "runtime/stream.h"

namespace torus::parallel {

namespace {

PipelineSize PipelineOf(const TrainerOptions& options) {
  return SizeOf(options.schedule, options.stages, options.micro_batches, options.chunks);
}

}  // namespace

Schedule ScheduleOf(const TrainerOptions& options) {
  const PipelineSize size = PipelineOf(options);
  return options.generator ? MakeSchedule(options.generator, size)
                           : MakeSchedule(options.schedule, size);
}

WorldLayout LayoutOf(const TrainerOptions& options) {
  return {ScheduleOf(options), options.replicas, options.tensor};
}

std::string WhyNoGraphs(const TrainerOptions& options) {
  if (options.device != DeviceKind::kCuda) return "it computes on a CPU";
  if (PipelineOf(options).ranks > 1) return "a rank's stages are not the whole pipeline";
  if (options.tensor > 1) return "tensor-parallel ranks sum within forwards and backwards";
  if (options.replicas > 1 && options.cuda_graphs != CudaGraphs::kOn)
    return "replicas sum gradients beside the backward";
  if (options.replicas > 1 && options.sync_batch_norm)
    return "replicas gather the statistics of batch norm within forwards";
  if (options.reproducible) return "reproducible sums gradients in a tree between the backwards";
  if (options.times_gpu_work) return "times_gpu_work waits for the GPU after every action";
  if (options.before_action) return "before_action is called before every action";
  return "";
}

namespace {

void CheckGraphs(const TrainerOptions& options) {
  if (options.cuda_graphs != CudaGraphs::kOn) return;
  const std::string why_not = WhyNoGraphs(options);
  Require(why_not.empty(), "trainer", "no step of this run can be a CUDA graph: {}", why_not);
}

void CheckDevice(const TrainerOptions& options) {
  Require(options.device != DeviceKind::kMeta, "trainer", "device must be cpu or cuda, got meta");
  if (options.device == DeviceKind::kCpu) return;
  Require(GpuCount() > 0, "trainer", "device cuda: {}", WhyNoGpu());
  Require(WorksOnGpus(options.strategy), "trainer",
          "device cuda needs the strategy ddp, local-sgd:H, diloco:H or none, got {}",
          options.strategy);
}

}  // namespace

void CheckRun(const TrainerOptions& options, const TrainingParts& parts) {
  Require(parts.model && parts.loss && parts.optimizer && parts.learning_rate, "trainer",
          "needs a model, a loss, an optimizer and a learning rate");
  CheckStrategy(options.strategy, AllReduceByName(options.collectives));
  CheckDevice(options);
  CheckGraphs(options);
  Require(!options.reduce_codec || TakesCodec(options.strategy), "trainer",
          "a codec of what replicas sum needs the strategy ddp or diloco:H, got {}",
          options.strategy);
  Require(!options.reduce_codec || !options.reproducible, "trainer",
          "reproducible sums gradients in one tree, which takes no codec");
  Require(options.codec_warmup >= 0, "trainer", "codec_warmup must be at least 0, got {}",
          options.codec_warmup);
  Require(options.bucket_bytes >= 1, "trainer", "bucket_bytes must be at least 1, got {}",
          options.bucket_bytes);
  Require(options.threads >= 1, "trainer", "threads must be at least 1, got {}", options.threads);
  Require(options.clip_norm >= 0 && std::isfinite(options.clip_norm), "trainer",
          "clip_norm must be at least 0, got {}", options.clip_norm);
  Require(options.max_skipped >= 1, "trainer", "max_skipped must be at least 1, got {}",
          options.max_skipped);
  Require(!options.reproducible || options.collectives == "direct", "trainer",
          "reproducible sums in one tree and needs the collectives direct, got {}",
          options.collectives);
  const bool equal = KeepsReplicasEqual(options.strategy);
  Require(!options.reproducible || equal, "trainer",
          "reproducible needs a strategy whose replicas agree, got {}", options.strategy);
  Require(!options.sync_batch_norm || !options.reproducible, "trainer",
          "sync_batch_norm normalises by the replicas there are, and reproducible needs what does "
          "not depend on them: only one may be set, got both");
  Require(!options.sync_batch_norm || equal, "trainer",
          "sync_batch_norm needs a strategy whose replicas agree, got {}", options.strategy);
  Require(options.ema_decay >= 0 && options.ema_decay < 1, "trainer",
          "ema_decay must be from 0 to below 1, got {}", options.ema_decay);
  Require(options.ema_decay == 0 || !ExchangesWeights(options.strategy), "trainer",
          "ema_decay averages the weights of equal replicas, got the strategy {}",
          options.strategy);
}

}  // namespace torus::parallel
