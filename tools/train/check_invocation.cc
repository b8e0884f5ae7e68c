#include "models/model_spec.h"
#include "parallel/pipeline/partition.h"
#include "recipes/blocks/auto_cut.h"
#include "recipes/data/task_data.h"
#include "recipes/run/check_options.h"
#include "recipes/run/run_codecs.h"
#include "runtime/error.h"
#include "tools/common/flag_kinds.h"
#include "tools/train/invocation.h"

namespace torus::tools {
namespace {

bool Given(const Invocation& invocation, const char* flag) {
  return invocation.given.contains(flag);
}

void CheckWeights(const Invocation& invocation) {
  const bool resumed = !invocation.resume.empty();
  Require(!resumed || invocation.preset.empty(), "train",
          "--preset {} applies to new runs only; one that is resumed has its own settings",
          invocation.preset);
  Require(!invocation.eval_only || resumed || !invocation.settings.init.empty(), "train",
          "--eval-only needs weights: give --init FILE or --resume DIR");
}

void CheckKinds(const Invocation& invocation) {
  static const std::vector<FlagKinds> flags{{"--augment", {"images"}},
                                            {"--image-size", {"images"}},
                                            {"--length", {"sentences", "a long text"}},
                                            {"--tokenizer", {"sentences", "a long text"}},
                                            {"--vocab-dir", {"sentences", "a long text"}},
                                            {"--epoch-size", {"a long text"}}};
  const std::string& model = invocation.settings.model;
  CheckFlagKinds(
      "train", flags, [&](const std::string& flag) { return invocation.given.contains(flag); },
      recipes::LearnsFrom(ParseModelSpec(model).task), "--model " + model);
}

// Adapts the stages and codecs of a preset or of a resumed run to flags that contradict them.
void AdaptPreset(Invocation& invocation) {
  recipes::Settings& s = invocation.settings;
  if (!Given(invocation, "--stages") && Given(invocation, "--cut") && !recipes::IsAutoCut(s.cut))
    s.stages = 1;
  const bool cut = s.stages > 1 || (!s.cut.empty() && !recipes::IsAutoCut(s.cut));
  if (!Given(invocation, "--codec") && !cut) s.codec = "none";
  if (!Given(invocation, "--codec-backward") && !cut) s.codec_backward = "";
  if (!Given(invocation, "--codec-gradients") && s.replicas == 1) s.codec_gradients = "none";
  if (!Given(invocation, "--codec-folder") && !recipes::RemembersSamples(s)) s.codec_folder = "";
}

// A resumed run with more ranks than it had threads gets as many threads as a new run would.
void AdaptThreads(Invocation& invocation) {
  recipes::Settings& s = invocation.settings;
  if (invocation.resume.empty() || Given(invocation, "--threads") || s.chunks < 1) return;
  const bool listed = !s.cut.empty() && !recipes::IsAutoCut(s.cut);
  recipes::Settings cut = s;
  if (listed) cut.stages = std::ssize(parallel::ParseCuts(s.cut)) + 1;
  if (s.threads < recipes::RanksOf(cut)) s.threads = 0;
}

// A list of cuts determines the number of stages if nothing else does.
void CheckStages(const Invocation& invocation) {
  const recipes::Settings& s = invocation.settings;
  if (!Given(invocation, "--stages") || s.stages != 1 || s.cut.empty() || recipes::IsAutoCut(s.cut))
    return;
  Throw<BadInput>("train", "--cut {} makes {} stages, but --stages is 1", s.cut,
                  parallel::ParseCuts(s.cut).size() + 1);
}

void CheckOptimizer(const Invocation& invocation) {
  const recipes::Settings& s = invocation.settings;
  const bool sgd = s.optimizer == "sgd";
  for (const char* flag : {"--beta1", "--beta2"})
    Require(!sgd || !Given(invocation, flag), "train", "{} needs --optimizer adam or adamw, got {}",
            flag, s.optimizer);
  Require(sgd || !Given(invocation, "--momentum"), "train",
          "--momentum needs --optimizer sgd, got {}, whose flag is --beta1", s.optimizer);
  Require(!s.nesterov || !Given(invocation, "--nesterov") || (sgd && s.momentum > 0), "train",
          "--nesterov needs --optimizer sgd with --momentum above 0");
}

}  // namespace

void CheckAndComplete(Invocation& invocation) {
  ParseModelSpec(invocation.settings.model);
  CheckWeights(invocation);
  CheckKinds(invocation);
  AdaptPreset(invocation);
  AdaptThreads(invocation);
  CheckStages(invocation);
  CheckOptimizer(invocation);
  static_cast<recipes::RunOptions&>(invocation) = recipes::CheckedOptions(invocation);
}

}  // namespace torus::tools
