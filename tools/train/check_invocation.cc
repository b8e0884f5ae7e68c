#include <fmt/format.h>

#include "data/datasets/open_dataset.h"
#include "models/model_spec.h"
#include "parallel/data_parallel/strategy_factory.h"
#include "parallel/pipeline/partition.h"
#include "parallel/schedule/factory.h"
#include "recipes/blocks/auto_cut.h"
#include "recipes/data/task_data.h"
#include "recipes/run/check_options.h"
#include "recipes/run/run_codecs.h"
#include "runtime/error.h"
#include "tools/common/check_flags.h"
#include "tools/common/output.h"
#include "tools/train/invocation.h"

namespace torus::tools {
namespace {

bool Given(const Invocation& invocation, const char* flag) {
  return invocation.given.contains(flag);
}

void CheckWeights(const Invocation& invocation) {
  const bool resumed = !invocation.resume.empty();
  Require(!invocation.eval_only || resumed || !invocation.settings.init.empty(), "train",
          "--eval-only needs weights: give --init FILE or --resume DIR");
}

void CheckFindLr(const Invocation& invocation) {
  if (!invocation.find_lr) return;
  for (const char* flag :
       {"--resume", "--eval-only", "--describe", "--verify-resume", "--max-steps", "--lr"})
    Require(!Given(invocation, flag), "train",
            "--find-lr looks for --lr in a run of its own; leave out {}", flag);
}

void CheckVerifyResume(const Invocation& invocation) {
  if (!Given(invocation, "--verify-resume")) return;
  Require(invocation.verify_resume >= 1, "train", "--verify-resume must be at least 1, got {}",
          invocation.verify_resume);
  for (const char* flag : {"--resume", "--eval-only", "--describe", "--max-steps"})
    Require(!Given(invocation, flag), "train",
            "--verify-resume begins and resumes a run by itself; leave out {}", flag);
}

// Of options that are complete.
std::vector<HereOrNot> ContextsOf(const Invocation& invocation) {
  const recipes::Settings& s = invocation.settings;
  const std::string task = recipes::LearnsFrom(ParseModelSpec(s.model).task);
  const std::string not_to =
      fmt::format("not to {} (--model {})", task == "a long text" ? "long texts" : task, s.model);
  const int64_t ranks = recipes::PipelineOf(s).ranks;
  const std::string one_rank =
      fmt::format("but with --schedule {}, --stages {} and --chunks {} there is one rank",
                  s.schedule, s.stages, s.chunks);
  const bool sgd = s.optimizer == "sgd", adam = s.optimizer.starts_with("adam");
  const bool codec = s.codec != "none" || s.codec_gradients != "none" ||
                     (!s.codec_backward.empty() && s.codec_backward != "none");
  const bool low = s.precision == "bf16" || s.precision == "f16";
  return {{"images", task == "images", not_to},
          {"image-files", data::IsOfImageFiles(s.data), "got --data " + s.data},
          {"texts", task != "images", not_to},
          {"text", task == "a long text", not_to},
          {"vocabulary", s.tokenizer != "chars" && s.tokenizer != "bytes",
           "and --tokenizer " + s.tokenizer + " has none"},
          {"training", !invocation.eval_only, "got --eval-only"},
          {"scored", recipes::ChoosesBest(s), "to know what is better"},
          {"new", invocation.resume.empty(), "and one that is resumed has its own settings"},
          {"weights", !s.init.empty(), "whose weights it chooses from"},
          {"sgd", sgd, fmt::format("got {}{}", s.optimizer, adam ? ", whose flag is --beta1" : "")},
          {"adam", adam, "got " + s.optimizer},
          {"momentum", sgd && s.momentum > 0,
           fmt::format("got {} with --momentum {}", s.optimizer, s.momentum)},
          {"chunks", parallel::TakesChunks(s.schedule) || s.schedule.starts_with("csv:"),
           "got " + s.schedule},
          {"stages", s.stages > 1, "got --stages 1"},
          {"cut", ranks > 1, one_rank},
          {"auto", recipes::IsAutoCut(s.cut), fmt::format("got \"{}\"", s.cut)},
          {"codec", codec, "got --codec none"},
          {"samples", recipes::RemembersSamples(s), "but --codec is " + s.codec},
          {"replicas", s.replicas > 1, "but --replicas is 1"},
          {"buckets", parallel::SumsInBuckets(s.strategy), "got " + s.strategy},
          {"sums", parallel::TakesCodec(s.strategy), "got " + s.strategy},
          {"tensor", s.tensor > 1, "got 1"},
          {"ranks", recipes::RanksOf(s) > 1, "but there is one"},
          {"gpu", s.device == "cuda", "got " + s.device},
          {"low", low, "got " + s.precision}};
}

// Adapts the stages and codecs of a preset or of a resumed run to flags that contradict them.
void AdaptPreset(Invocation& invocation) {
  recipes::Settings& s = invocation.settings;
  if (!Given(invocation, "--stages") && Given(invocation, "--cut") && !recipes::IsAutoCut(s.cut))
    s.stages = 1;
  const bool cut = s.stages > 1 || (!s.cut.empty() && !recipes::IsAutoCut(s.cut));
  if (!Given(invocation, "--warmup") && invocation.eval_only) s.warmup = -1;
  if (!Given(invocation, "--codec") && !cut) s.codec = "none";
  if (!Given(invocation, "--codec-backward") && !cut) s.codec_backward = "";
  if (!Given(invocation, "--codec-gradients") && s.replicas == 1) s.codec_gradients = "none";
  if (!Given(invocation, "--codec-folder") && !recipes::RemembersSamples(s)) s.codec_folder = "";
}

// A list of cuts determines the number of stages if nothing else does.
void CheckStages(const Invocation& invocation) {
  const recipes::Settings& s = invocation.settings;
  if (!Given(invocation, "--stages") || s.stages != 1 || s.cut.empty() || recipes::IsAutoCut(s.cut))
    return;
  Throw<BadInput>("train", "--cut {} makes {} stages, but --stages is 1", s.cut,
                  parallel::ParseCuts(s.cut).size() + 1);
}

}  // namespace

void CheckAndComplete(Invocation& invocation) {
  ParseModelSpec(invocation.settings.model);
  CheckWeights(invocation);
  CheckFindLr(invocation);
  CheckVerifyResume(invocation);
  AdaptPreset(invocation);
  CheckStages(invocation);
  static_cast<recipes::RunOptions&>(invocation) = recipes::CheckedOptions(invocation);
  CheckFlags("train", invocation.given, ContextsOf(invocation));
  CheckOutputFolder("train", "--out", invocation.out);
  CheckOutputFolder("train", "--codec-folder", invocation.settings.codec_folder);
  CheckOutputFolder("train", "--image-cache", invocation.settings.image_cache);
}

}  // namespace torus::tools
