#include "tools/experiments/sort_quantization/sort_quantization.h"

#include <fmt/format.h>

#include <algorithm>

#include "tools/experiments/common/codec_study.h"
#include "tools/experiments/common/published.h"
#include "tools/experiments/common/what_differs.h"

namespace torus::experiments {
namespace {

// The published bits with splits of 3:1, and other splits of 8 bits.
std::vector<std::string> Codecs(Scale scale) {
  if (scale == Scale::kTiny) return {"sortq:8"};
  return {"sortq:16", "sortq:12", "sortq:8", "sortq:4", "sortq:Q7S1", "sortq:Q4S4"};
}

// Of the study of where the cut lies.
const std::vector<std::string> kCodecsByCut{"sortq:8", "sortq:4"};

std::vector<Training> Plan(Scale scale) {
  std::vector<Training> plan = PlanOf(CodecTasks(scale), Codecs(scale), scale);
  for (Training& training : PlanOf(CutTasks(scale), kCodecsByCut, scale))
    plan.push_back(std::move(training));
  return plan;
}

std::string CodecOf(int bits) { return bits == 32 ? "none" : fmt::format("sortq:{}", bits); }

study::Table PublishedTable(const std::vector<CodecTask>& tasks, const Runs& runs) {
  const Published published("sort_quantization", kSortQuantizationPublished);
  study::Table table("Scores by bits, published and ours",
                     {{"data"},
                      {"published model"},
                      {"bits", "", 0},
                      {"metric"},
                      {"published"},
                      {"published deviation"},
                      {"ours"},
                      {"to none, 95 % interval"}},
                     "Of ours, matthews is that of the trained weights without a codec.");
  for (size_t i = 0; i < published.rows(); ++i) {
    const int bits = published.Whole(i, "bits");
    const std::string data = published.Text(i, "data"), codec = CodecOf(bits);
    const auto task = std::ranges::find(tasks, data, &CodecTask::data);
    const bool has = task != tasks.end();
    table.Add({data, published.Text(i, "model"), double(bits), published.Text(i, "metric"),
               NumberCell(published.Number(i, "value")),
               NumberCell(published.Number(i, "deviation")),
               has ? ScoreCell(runs, NameOf(*task, codec), NameOf(*task, "none"), task->metric)
                   : study::Cell(std::string("not run")),
               has ? DifferenceCell(runs, *task, codec) : study::Cell()});
  }
  return table;
}

study::Page PageOf(Scale scale, const Runs& runs) {
  const std::vector<CodecTask> tasks = CodecTasks(scale);
  const std::vector<std::string> codecs = Codecs(scale);
  study::Page page{
      .title = "Sort quantization by bits",
      .lead = "What crosses two cuts, forward and backward, in 16, 12, 8 and 4 bits a value.",
      .parts = {study::Heading{"The table"}, PublishedTable(tasks, runs),
                study::Heading{"Every run"}, CodecTable(tasks, codecs, runs),
                SignalTable(tasks, runs)}};
  for (const CodecTask& task : tasks)
    if (study::Plot plot = CodecPlot(task, codecs, runs); !plot.series.empty())
      page.parts.push_back(std::move(plot));
  page.parts.insert(page.parts.end(), {study::Heading{"Where the cut lies"},
                                       CodecTable(CutTasks(scale), kCodecsByCut, runs,
                                                  "One cut in different places")});
  const std::string matthews =
      " Matthews' correlation, in percent, is that of the trained weights without a codec between "
      "the stages; all other scores go through the codec.";
  AddWhatDiffers(
      scale,
      {.laptop =
           fmt::format(
               "Published: GPUs, 224 x 224 pixels, 40 epochs from ImageNet's weights; RoBERTa-base "
               "from its published weights. Here at laptop scale: two cores, CIFAR-10 at 32 x 32 "
               "for {0} steps, with MobileNetV2 from weights that six epochs without a codec have "
               "made of ImageNet's, with ResNet-20 from its published ones; ten classes of "
               "Food-101 "
               "with 80 images each at 64 x 64, RoBERTa of 6 blocks from random weights for a few "
               "dozen steps, since its weights are not at hand; a GPT of characters, {1} steps "
               "with "
               "cuts as close to the ends, stands beside it. All seeds of CIFAR-10 start from the "
               "same weights, so our deviations and intervals are those of the {0} steps alone; "
               "the published ones are of whole trainings.",
               kImageSteps, kTextSteps) +
           matthews,
       .paper =
           "At paper scale the runs have the study's models, weights, cuts, batches, rates and "
           "epochs; the GPUs are those of this cluster, and their links are not slowed down." +
           matthews},
      page);
  return page;
}

}  // namespace

Experiment SortQuantization() {
  return {"sort_quantization", "Trains with sort quantization at the cuts, by bits and data.", Plan,
          PageOf};
}

}  // namespace torus::experiments
