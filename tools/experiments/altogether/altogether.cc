#include "tools/experiments/altogether/altogether.h"

#include <fmt/format.h>

#include "tools/experiments/common/codec_study.h"
#include "tools/experiments/common/what_differs.h"

namespace torus::experiments {
namespace {

constexpr int kBits[] = {16, 12, 11, 10, 8, 4};

// Pruning also sends one bit for each value, so keeping 7/32 of the f32 values makes 8 bits per
// value, and 3/32 make 4.
std::vector<std::string> Codecs(Scale scale) {
  if (scale == Scale::kTiny) return {"sortq:8", "uniform:8", "kmeans:4", "topk:0.09375"};
  std::vector<std::string> codecs;
  for (const char* family : {"sortq", "uniform"})
    for (const int bits : kBits) codecs.push_back(fmt::format("{}:{}", family, bits));
  codecs.insert(codecs.end(), {"kmeans:8", "kmeans:4", "topk:0.21875", "topk:0.09375",
                               "randk:0.21875", "randk:0.09375"});
  return codecs;
}

// The tasks with a signal: images, and the characters of a text.
std::vector<CodecTask> Tasks(Scale scale) {
  std::vector<CodecTask> tasks;
  for (CodecTask& task : CodecTasks(scale)) {
    if (task.data != "CIFAR10" && task.data != "tiny Shakespeare" && scale != Scale::kPaper)
      continue;
    tasks.push_back(std::move(task));
  }
  return tasks;
}

// sortq - uniform at equal bits, paired by seeds, and the conclusion.
study::Table SortAgainstUniform(const std::vector<CodecTask>& tasks, const Runs& runs) {
  study::Table table("Sort against uniform at equal bits",
                     {{"data"},
                      {"model"},
                      {"bits", "", 0},
                      {"metric"},
                      {"sort", "", 3},
                      {"uniform", "", 3},
                      {"sort - uniform, 95 % interval"},
                      {"uniform is"}},
                     "Not worse: over the seeds that both have, the mean of uniform is as good as "
                     "that of sort, or better, and no more of its seeds diverged. Worse, within "
                     "the interval: the mean is not as good, but by less than these seeds can "
                     "tell.");
  for (const CodecTask& task : tasks)
    for (const int bits : kBits) {
      const std::string sort = NameOf(task, fmt::format("sortq:{}", bits)),
                        uniform = NameOf(task, fmt::format("uniform:{}", bits)),
                        none = NameOf(task, "none");
      const bool loss = task.metric == "loss";
      table.Add({task.data, task.model, double(bits), task.metric,
                 ScoreCell(runs, sort, none, task.metric),
                 ScoreCell(runs, uniform, none, task.metric),
                 DifferenceCell(runs, sort, uniform, none, task.metric, loss ? 4 : 2),
                 WorseCell(runs, uniform, sort, none, task.metric, loss)});
    }
  return table;
}

study::Page PageOf(Scale scale, const Runs& runs) {
  const std::vector<CodecTask> tasks = Tasks(scale);
  const std::vector<std::string> codecs = Codecs(scale);
  study::Page page{
      .title = "All codecs together",
      .lead = "Sort against uniform at equal bits; K-means and pruning at the bytes of 8 and 4.",
      .parts = {study::Heading{"Sort against uniform"}, SortAgainstUniform(tasks, runs),
                study::Heading{"Every codec"}, CodecTable(tasks, codecs, runs),
                SignalTable(tasks, runs)}};
  for (const CodecTask& task : tasks)
    if (study::Plot plot = CodecPlot(task, codecs, runs); !plot.series.empty())
      page.parts.push_back(std::move(plot));
  const std::string published =
      "No table of this ablation was published with figures that could stand beside ours. Pruned "
      "values are not given back their mean by an error feedback: that is another codec (ef). ";
  AddWhatDiffers(
      scale,
      {.laptop =
           published +
           fmt::format(
               "At laptop scale images are 32 x 32; MobileNetV2 is trained for six epochs "
               "from ImageNet's weights without a codec, then for {0} steps with each codec "
               "and seed, ResNet-20 for {0} steps from its published weights for CIFAR-10, "
               "the text for {1} steps from random weights. All seeds of the images start "
               "from the same weights, so their deviations and intervals are those of the {0} "
               "steps alone.",
               kImageSteps, kTextSteps),
       .paper = published +
                "At paper scale each seed is a whole training from published weights, with the "
                "study's batches, rates and epochs; the GPUs are those of this cluster."},
      page);
  return page;
}

}  // namespace

Experiment Altogether() {
  return {"altogether", "Trains with sort, uniform, K-means and pruning at the cuts.",
          [](Scale scale) { return PlanOf(Tasks(scale), Codecs(scale), scale); }, PageOf};
}

}  // namespace torus::experiments
