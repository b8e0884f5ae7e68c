// What a run takes from its data: sizes of images, and a loss to measure with.
#include "recipes/data/task_data.h"

#include <gtest/gtest.h>

#include <algorithm>
#include <cmath>
#include <filesystem>
#include <fstream>

#include "models/model_spec.h"
#include "parallel/trainer/block_costs.h"
#include "recipes/blocks/build_blocks.h"
#include "recipes/blocks/choose_cuts.h"
#include "runtime/progress.h"

namespace torus::recipes {
namespace {

void WriteGrey(const std::string& path, int64_t height, int64_t width) {
  std::filesystem::create_directories(std::filesystem::path(path).parent_path());
  std::ofstream(path, std::ios::binary) << "P5 " << width << " " << height << " 255\n"
                                        << std::string(static_cast<size_t>(height * width), '7');
}

Shape BatchOf(const DataPart& part) {
  return part.batches({.indices = {0, 1}, .samples = {0, 1}}).inputs[0].shape();
}

TEST(OpenTaskData, BringsTestImagesToTheSizeOfTheModelsInput) {
  const std::string folder = ::testing::TempDir() + "/sizes";
  for (const char* name : {"/train/a/1.pgm", "/train/b/2.pgm"}) WriteGrey(folder + name, 6, 5);
  Settings settings;
  settings.data = "image-folder";
  settings.data_dir = folder;
  for (const int64_t other : {9, 8}) {  // first of one size, then of two
    WriteGrey(folder + "/test/a/1.pgm", 9, 9);
    WriteGrey(folder + "/test/b/2.pgm", other, 9);
    const TaskData data = OpenTaskData(settings);
    EXPECT_EQ(BatchOf(data.train), (Shape{2, 6, 5, 3}));
    EXPECT_EQ(BatchOf(data.test), (Shape{2, 6, 5, 3}));
  }
  settings.image_size = 7;
  EXPECT_EQ(BatchOf(OpenTaskData(settings).test), (Shape{2, 7, 7, 3}));
}

TEST(TaskLoss, TakesSampleTargets) {
  for (const char* name : {"mobilenet_v2", "roberta"}) {
    const ModelSpec model = ParseModelSpec(name);
    const std::vector<Tensor> targets = SampleTargets(model.task, {4, 8});
    EXPECT_EQ(targets[0].shape(), Shape{4});
    const Variable loss = TaskLoss(model)({Variable(Zeros({4, 3}))}, targets);
    EXPECT_NEAR(loss.data().Item(), std::log(3.0), 1e-6) << name;
  }
  for (const char* name : {"gpt2", "roberta-mlm"}) {
    const ModelSpec model = ParseModelSpec(name);
    const std::vector<Tensor> targets = SampleTargets(model.task, {4, 8});
    const std::vector<int64_t> all = ToVector<int64_t>(targets[0]);
    EXPECT_EQ(targets[0].shape(), (Shape{4, 8}));
    EXPECT_EQ(std::ranges::count(all, 0), model.task == ModelTask::kMaskedToken ? 5 : 32);
    const Variable loss = TaskLoss(model)({Variable(Zeros({4, 8, 3}))}, targets);
    EXPECT_NEAR(loss.data().Item(), std::log(3.0), 1e-6) << name;
  }
}

// Nodes that a backward of what `work` measures runs, in all.
template <class Work>
uint64_t TicksOf(const Work& work) {
  ProgressCounter counter;
  SetProgressCounter(&counter);
  work();
  SetProgressCounter(nullptr);
  return counter.ticks.load();
}

// A language model's last block leaves the product with the vocabulary to the loss.
TEST(ChooseCuts, MeasuresTheLossToo) {
  Settings settings;
  settings.model = "gpt-char:2";
  settings.batch_size = settings.micro_batches = 2;
  settings.length = 8;
  settings.stages = 2;
  settings.cut = "auto";
  settings.threads = 2;
  const DataForm form = TextForm("text", 29, settings.length);
  CutChoice choice;
  const uint64_t with = TicksOf([&] { choice = ChooseCuts(settings, form); });
  const uint64_t without = TicksOf([&] {
    DescribeLayers(settings, form);
    parallel::MeasureBlockCosts(BuildBlocks(settings, form, ""), form.inputs(1));
  });
  EXPECT_EQ(choice.measured.size(), DescribeLayers(settings, form).size());
  EXPECT_EQ(choice.cuts.size(), 1u);
  EXPECT_GT(with, without);
}

}  // namespace
}  // namespace torus::recipes
