// Studies of accuracy with codecs at the cuts: their tasks, runs, tables and plots.
#pragma once

#include <string>
#include <vector>

#include "tools/experiments/common/cells.h"
#include "tools/experiments/common/experiment.h"

namespace torus::experiments {

// Steps with each codec at laptop scale: of the models on CIFAR-10, and of the GPT of characters.
inline constexpr int64_t kImageSteps = 40, kTextSteps = 400;

struct CodecTask {
  std::string data;    // the name in published tables: "CIFAR10"
  std::string model;   // likewise: "MobileNetV2"
  std::string metric;  // "accuracy" and "matthews" in percent, or "loss" in nats
  std::string flags;   // of recipes::Settings, with cut and without codec
  int64_t max_steps = 0;
  std::string weights = {};  // as Training::weights
  // Flags of a training run without codec from `weights`. All other runs of the task, of all seeds,
  // start from its result. Empty: no such run; they start from `weights`.
  std::string pretraining = {};
};

// "CIFAR10, MobileNetV2: sortq:8".
std::string NameOf(const CodecTask& task, const std::string& codec);

// For each task its pretraining, if it has one, then codec none, which is the baseline
// (Training::baseline), and then each of `codecs`. At the scale tiny there are no baselines,
// because nothing has a signal there.
std::vector<Training> PlanOf(const std::vector<CodecTask>& tasks,
                             const std::vector<std::string>& codecs, Scale scale);

// The tasks of the codec studies at `scale`: images with MobileNetV2, cut after the first and
// before the last convolution; sentences with RoBERTa, cut after the first two and before the last
// two blocks; and a text's characters with a small GPT, cut in the same places.
std::vector<CodecTask> CodecTasks(Scale scale);

// One training of images with its only cut in different places: after the first block, in the
// middle, and before the last block. None at the scale tiny.
std::vector<CodecTask> CutTasks(Scale scale);

// A codec's bytes over the cuts as a share of those of codec none; an empty cell without both runs.
study::Cell RatioCell(const Runs& runs, const CodecTask& task, const std::string& codec);

// The difference to codec none, paired by seeds, with its confidence interval.
study::Cell DifferenceCell(const Runs& runs, const CodecTask& task, const std::string& codec);

// A row for each codec of each task: bytes, score, difference.
study::Table CodecTable(const std::vector<CodecTask>& tasks, const std::vector<std::string>& codecs,
                        const Runs& runs, const std::string& title = "Every codec beside none");

// The chance level of each task, and whether codec none beats it.
study::Table SignalTable(const std::vector<CodecTask>& tasks, const Runs& runs);

// The score against the bytes of each codec that has a signal in all seeds and diverged in none,
// with one series for each family of codecs. No series if there is no such codec.
study::Plot CodecPlot(const CodecTask& task, const std::vector<std::string>& codecs,
                      const Runs& runs);

}  // namespace torus::experiments
