// Accuracy by what crosses the cuts: the tasks and codecs of a study, and its table.
#pragma once

#include <string>
#include <vector>

#include "tools/experiments/common/cells.h"
#include "tools/experiments/common/experiment.h"

namespace torus::experiments {

struct CodecTask {
  std::string data;    // as published tables call it: "CIFAR10"
  std::string model;   // likewise: "MobileNetV2"
  std::string metric;  // "accuracy" and "matthews" in percent, or "loss" in nats
  std::string flags;   // of recipes::Settings, with cut and without codec
  int64_t max_steps = 0;
  std::string weights = {};  // as Training::weights
};

// "CIFAR10, MobileNetV2: sortq:8".
std::string NameOf(const CodecTask& task, const std::string& codec);

// Each task with codec none and then with each of `codecs`, which lean on it (Training::baseline).
// At the scale tiny none leans: there nothing has a signal.
std::vector<Training> PlanOf(const std::vector<CodecTask>& tasks,
                             const std::vector<std::string>& codecs, Scale scale);

// The tasks of the codec studies at `scale`: images on MobileNetV2 cut after the first and before
// the last convolution, sentences on RoBERTa after the first two and before the last two blocks,
// and beside them the characters of a text on a small GPT, with the same cuts.
std::vector<CodecTask> CodecTasks(Scale scale);

// A codec's bytes over the cuts as a share of what codec none sends; no cell without both runs.
study::Cell RatioCell(const Runs& runs, const CodecTask& task, const std::string& codec);

// The difference to codec none of the same seeds, with its interval.
study::Cell DifferenceCell(const Runs& runs, const CodecTask& task, const std::string& codec);

// A row for each codec of each task: bytes, score, difference.
study::Table CodecTable(const std::vector<CodecTask>& tasks, const std::vector<std::string>& codecs,
                        const Runs& runs);

// What chance gives each task, and whether none beats it.
study::Table SignalTable(const std::vector<CodecTask>& tasks, const Runs& runs);

// The score against the bytes of each codec all of whose seeds have a signal and none of which
// diverged, a series for each family of codecs; none where there is no such codec.
study::Plot CodecPlot(const CodecTask& task, const std::vector<std::string>& codecs,
                      const Runs& runs);

}  // namespace torus::experiments
