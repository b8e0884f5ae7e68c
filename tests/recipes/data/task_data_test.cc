// What a run takes from its data: sizes of images, and a loss to measure with.
#include "recipes/data/task_data.h"

#include <gtest/gtest.h>

#include <algorithm>
#include <cmath>
#include <filesystem>
#include <fstream>
#include <nlohmann/json.hpp>
#include <set>

#include "autograd/backward.h"
#include "models/model_spec.h"
#include "ops/matmul/linear.h"
#include "parallel/trainer/block_costs.h"
#include "recipes/blocks/auto_cut.h"
#include "recipes/blocks/build_blocks.h"
#include "recipes/blocks/choose_cuts.h"
#include "recipes/data/validation_part.h"
#include "runtime/error.h"
#include "runtime/progress.h"
#include "tests/testing/tolerance.h"

namespace torus::recipes {
namespace {

using torus::testing::Tolerance;

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

// In an evaluation a row without a class adds 0 to the mean over all rows.
TEST(TaskLoss, GivesImagesThatAreLeftOutNothing) {
  const parallel::LossFn loss = TaskLoss(ParseModelSpec("mobilenet_v2"));
  const Variable logits(Zeros({4, 3}));
  StepContext evaluation;
  evaluation.training = false;
  const auto of = [&](const std::vector<int64_t>& classes) {
    return loss({logits}, {FromVector<int64_t>(classes, {4})}, evaluation).data().Item();
  };
  // Means of four rows, each with a sum of three exponentials.
  const double whole = std::log(3.0), tolerance = Tolerance(DType::kF32, 4 + 3, whole);
  EXPECT_NEAR(of({0, 1, 2, 0}), whole, tolerance);
  EXPECT_NEAR(of({data::kNoClass, 1, 2, data::kNoClass}), whole / 2, tolerance);
  EXPECT_EQ(of({data::kNoClass, data::kNoClass, data::kNoClass, data::kNoClass}), 0);
}

TEST(HoldOut, DividesExamplesOnceAndForAll) {
  const HeldOut parts = HoldOut(10, 0.3);
  EXPECT_EQ(parts.training.size(), 7u);
  EXPECT_EQ(parts.validation.size(), 3u);
  std::vector<int64_t> all = parts.training;
  all.insert(all.end(), parts.validation.begin(), parts.validation.end());
  std::ranges::sort(all);
  for (int64_t i = 0; i < 10; ++i) EXPECT_EQ(all[i], i);
  EXPECT_NE(HoldOut(1000, 0.3).validation.front(), 700) << "not merely the last ones";
  EXPECT_THROW(HoldOut(10, 0.01), BadInput);
  EXPECT_THROW(HoldOut(10, 0.99), BadInput);
  EXPECT_EQ(TokensToTrainOn(1000, 0.1), 900);
}

// Damaged files are replaced by others of their class, but by none that is validated on. A cache
// changes no image of the validation part.
TEST(OpenTaskData, HoldsOutWhatTrainingNeverSees) {
  const std::string folder = ::testing::TempDir() + "/held_out";
  for (int i = 0; i < 10; ++i) {
    std::filesystem::create_directories(folder + "/train/a");
    std::ofstream(fmt::format("{}/train/a/{}.pgm", folder, i), std::ios::binary)
        << "P5 4 4 255\n"
        << std::string(16, static_cast<char>(20 * i));
  }
  WriteGrey(folder + "/test/a/1.pgm", 4, 4);
  Settings settings;
  settings.data = "image-folder";
  settings.data_dir = folder;
  settings.validation = 0.3;
  const auto first_values = [](const DataPart& part) {
    std::vector<int64_t> rows;
    for (int64_t i = 0; i < part.size; ++i) rows.push_back(i);
    const Tensor images = part.batches({.indices = rows, .samples = rows}).inputs[0];
    std::vector<float> values;
    for (int64_t i = 0; i < part.size; ++i) values.push_back(images.data<float>()[i * 4 * 4 * 3]);
    return values;
  };
  const HeldOut parts = HoldOut(10, 0.3);
  const TaskData whole = OpenTaskData(settings);
  EXPECT_EQ(whole.train.size, 7);
  EXPECT_EQ(whole.validation.size, 3);
  const std::vector<float> held_out = first_values(whole.validation);
  for (const float value : first_values(whole.train))
    EXPECT_EQ(std::ranges::count(held_out, value), 0);
  for (const int64_t example : parts.training)
    if (example != parts.training.back())
      std::ofstream(fmt::format("{}/train/a/{}.pgm", folder, example)) << "damaged";
  const TaskData damaged = OpenTaskData(settings);
  const std::vector<float> left = first_values(damaged.train);
  for (const float value : left) EXPECT_EQ(std::ranges::count(held_out, value), 0);
  EXPECT_EQ(std::set(left.begin(), left.end()).size(), 1u);
  EXPECT_EQ(first_values(damaged.validation), held_out);
}

TEST(OpenTaskData, HoldsOutTheEndOfATextsTrainingPart) {
  const std::string path = ::testing::TempDir() + "/held_out.txt";
  std::string text;
  for (int i = 0; i < 200; ++i) text += static_cast<char>('a' + i % 26);
  std::ofstream(path) << text;
  Settings settings;
  settings.model = "gpt-char:1";
  settings.data = "text";
  settings.data_dir = path;
  settings.tokenizer = "bytes";
  settings.length = 8;
  settings.validation = 0.25;  // of the 180 characters to train on
  const TaskData data = OpenTaskData(settings);
  EXPECT_EQ(data.validation.size, (45 - 1) / 8);
  EXPECT_EQ(data.train.size, 135 / 8);
  const std::vector<int64_t> first =
      ToVector<int64_t>(data.validation.batches({.indices = {0}, .samples = {0}}).inputs[0]);
  EXPECT_EQ(first.front(), text[135]);
}

// As torch.nn.CrossEntropyLoss(label_smoothing=0.3): 0.7 of the class's loss and 0.3 of the mean of
// all classes'.
TEST(TaskLoss, SmoothsLabelsInTrainingAlone) {
  const parallel::LossFn loss = TaskLoss(ParseModelSpec("mobilenet_v2"), {}, 0.3);
  const Variable logits(FromVector<double>({0, 1, 3}, {1, 3}));
  const Tensor target = FromVector<int64_t>({1}, {1});
  const double all = std::log(1 + std::exp(1.0) + std::exp(3.0));
  const double tolerance = Tolerance(DType::kF64, 3, all);  // of three classes, each below `all`
  EXPECT_NEAR(loss({logits}, {target}, {}).data().Item(),
              0.7 * (all - 1) + 0.3 * (all - (0 + 1 + 3) / 3.0), tolerance);
  StepContext evaluation;
  evaluation.training = false;
  EXPECT_NEAR(loss({logits}, {target}, evaluation).data().Item(), all - 1, tolerance);
}

// A number in (-1, 1) of `i`, and some that differ from it.
double Number(int64_t i) { return std::sin(1.7 * static_cast<double>(i) + 0.3); }

Tensor Numbers(const Shape& shape, int64_t first) {
  std::vector<double> values(static_cast<size_t>(Numel(shape)));
  for (size_t i = 0; i < values.size(); ++i) values[i] = Number(first + static_cast<int64_t>(i));
  return FromVector<double>(values, shape);
}

// A head that is left to the loss gives the loss and gradients of its logits.
TEST(TaskLoss, SmoothsTokensWithoutAllLogits) {
  const Tensor target = FromVector<int64_t>({3, -100, 0, 6, 2, 2}, {2, 3});
  for (const char* name : {"gpt2", "roberta-mlm"}) {
    const parallel::LossFn loss = TaskLoss(ParseModelSpec(name), {}, 0.2);
    const auto of = [&](bool in_loss) {
      const Variable hidden(Numbers({2, 3, 4}, 0), true), weight(Numbers({7, 4}, 50), true),
          bias(Numbers({7}, 90), true);
      const Variable logits = ops::Linear(hidden, weight, bias);
      const Variable value =
          in_loss ? loss({hidden, weight, bias}, {target}, {}) : loss({logits}, {target}, {});
      Backward({value});
      std::vector<double> all = ToVector<double>(value.data());
      for (const Variable& v : {hidden, weight, bias})
        for (const double g : ToVector<double>(v.grad())) all.push_back(g);
      return all;
    };
    const std::vector<double> whole = of(false), without = of(true);
    ASSERT_EQ(whole.size(), without.size());
    // Sums of at most 28 products, whose numbers are below 1, and the loss, below 4.
    const double tolerance = Tolerance(DType::kF64, 28, 4);
    for (size_t i = 0; i < whole.size(); ++i) EXPECT_NEAR(without[i], whole[i], tolerance) << name;
  }
}

TEST(OpenTaskData, TestsOnNoImageTwice) {
  const std::string folder = ::testing::TempDir() + "/twice";
  for (const char* name : {"/train/a/1.pgm", "/train/b/1.pgm", "/test/a/1.pgm", "/test/b/1.pgm"})
    WriteGrey(folder + name, 6, 5);
  for (const char* part : {"/train", "/test"})
    for (const char* name : {"/a/0.jpg", "/a/2.jpg"}) std::ofstream(folder + part + name).flush();
  Settings settings;
  settings.data = "image-folder";
  settings.data_dir = folder;
  const TaskData data = OpenTaskData(settings);
  const data::MicroBatch all{.indices = {0, 1, 2, 3}, .samples = {0, 1, 2, 3}};
  EXPECT_EQ(ToVector<int64_t>(data.train.batches(all).target), (std::vector<int64_t>{0, 0, 0, 1}));
  EXPECT_EQ(ToVector<int64_t>(data.test.batches(all).target),
            (std::vector<int64_t>{data::kNoClass, 0, data::kNoClass, 1}));
}

TEST(TaskLoss, TakesSampleTargets) {
  for (const char* name : {"mobilenet_v2", "roberta"}) {
    const ModelSpec model = ParseModelSpec(name);
    const std::vector<Tensor> targets = SampleTargets(model.task, {4, 8});
    EXPECT_EQ(targets[0].shape(), Shape{4});
    const Variable loss = TaskLoss(model)({Variable(Zeros({4, 3}))}, targets);
    EXPECT_NEAR(loss.data().Item(), std::log(3.0), Tolerance(DType::kF32, 4 + 3, std::log(3.0)))
        << name;
  }
  for (const char* name : {"gpt2", "roberta-mlm"}) {
    const ModelSpec model = ParseModelSpec(name);
    const std::vector<Tensor> targets = SampleTargets(model.task, {4, 8});
    const std::vector<int64_t> all = ToVector<int64_t>(targets[0]);
    EXPECT_EQ(targets[0].shape(), (Shape{4, 8}));
    EXPECT_EQ(std::ranges::count(all, 0), model.task == ModelTask::kMaskedToken ? 5 : 32);
    const Variable loss = TaskLoss(model)({Variable(Zeros({4, 8, 3}))}, targets);
    EXPECT_NEAR(loss.data().Item(), std::log(3.0), Tolerance(DType::kF32, 32 + 3, std::log(3.0)))
        << name;
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

Settings TwoStagesOfText() {
  Settings settings;
  settings.model = "gpt-char:2";
  settings.batch_size = settings.micro_batches = 2;
  settings.length = 8;
  settings.stages = 2;
  settings.cut = "auto";
  settings.threads = 2;
  return settings;
}

// A language model's last block leaves the product with the vocabulary to the loss.
TEST(ChooseCuts, MeasuresTheLossToo) {
  const Settings settings = TwoStagesOfText();
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
  ASSERT_TRUE(choice.predicted);
  EXPECT_GT(choice.predicted->seconds, 0);
  EXPECT_EQ(choice.predicted->peak_bytes.size(), 2u);
}

// Counted costs are the same each time; links and memory move the cut that they give.
TEST(ChooseCuts, CountsForAGivenSpeed) {
  Settings settings = TwoStagesOfText();
  settings.model = "gpt-char:8";
  settings.cut = "auto:1GFLOPS";
  const DataForm form = TextForm("text", 29, settings.length);
  const CutChoice choice = ChooseCuts(settings, form), again = ChooseCuts(settings, form);
  EXPECT_EQ(choice.cuts, again.cuts);
  EXPECT_TRUE(choice.measured.empty());
  EXPECT_EQ(choice.predicted->seconds, again.predicted->seconds);
  settings.cut = "auto:2GFLOPS";
  // The sum of the times of eight blocks, an embedding and a head, for each of two micro-batches.
  EXPECT_NEAR(ChooseCuts(settings, form).predicted->seconds, choice.predicted->seconds / 2,
              Tolerance(DType::kF64, 2 * 10, choice.predicted->seconds));
  settings.cut = "auto:1GFLOPS";
  settings.links = {"1s,1Gbps"};
  const double slow = ChooseCuts(settings, form).predicted->seconds;
  EXPECT_GT(slow, choice.predicted->seconds + 2);
  settings.links.clear();
  // Rank 1 may hold what it does there, rank 0 half of that.
  const std::vector<double>& peaks = choice.predicted->peak_bytes;
  const CutChoice small = ChooseCuts(
      settings, form,
      {.rank_memory = {static_cast<uint64_t>(peaks[0] / 2), static_cast<uint64_t>(4 * peaks[1])}});
  EXPECT_LT(small.cuts, choice.cuts);
  EXPECT_LE(small.predicted->peak_bytes[0], peaks[0] / 2);
  EXPECT_THROW(ChooseCuts(settings, form, {.rank_memory = {1}}), BadInput);
  EXPECT_THROW(ChooseCuts(settings, form, {.rank_memory = {1, 1, 1}}), BadInput);
}

// LoRA's optimizer keeps the adapted weights' first values and the state of two narrow matrices,
// not two moments of every weight.
TEST(ChooseCuts, KnowsLorasOptimizer) {
  Settings settings = TwoStagesOfText();
  settings.optimizer = "adamw";
  const DataForm form = TextForm("text", 29, settings.length);
  for (const char* const cut : {"auto", "auto:1GFLOPS"}) {
    settings.cut = cut;
    const auto bytes = [&](int64_t rank) {
      settings.lora = rank;
      const std::vector<double> peaks = ChooseCuts(settings, form).predicted->peak_bytes;
      return peaks[0] + peaks[1];
    };
    EXPECT_LT(bytes(1), 0.9 * bytes(0)) << cut;
  }
}

TEST(AutoCut, SaysHowCostsAreKnown) {
  EXPECT_FALSE(IsAutoCut(""));
  EXPECT_FALSE(IsAutoCut("1,18"));
  EXPECT_EQ(CountedRate("auto"), 0);
  EXPECT_EQ(CountedRate("auto:50GFLOPS"), 50e9);
  EXPECT_EQ(CountedRate("auto:1.5TFLOPS"), 1.5e12);
  for (const char* bad : {"auto:", "auto50GFLOPS", "auto:50", "auto:-1GFLOPS", "auto:0GFLOPS",
                          "auto:50GFLOPSx", "automatic"})
    EXPECT_THROW(CountedRate(bad), BadInput) << bad;
}

// A cut that was stored before there were predictions is read as ever.
TEST(CutChoice, ComesBackAsWritten) {
  const CutChoice choice{{1, 4}, {0.5, 0.25}, CutPrediction{2, 0.1, {10, 20}}};
  const CutChoice read = CutChoiceFromJson(ToJson(choice), "file");
  EXPECT_EQ(read.cuts, choice.cuts);
  EXPECT_EQ(read.predicted->peak_bytes, choice.predicted->peak_bytes);
  nlohmann::json old = ToJson(choice);
  old.erase("predicted");
  EXPECT_FALSE(CutChoiceFromJson(old, "file").predicted);
  old["predicted"] = {{"seconds", "x"}};
  EXPECT_THROW(CutChoiceFromJson(old, "file"), BadInput);
}

}  // namespace
}  // namespace torus::recipes
