// --describe of every model, as published: the known counts, no memory, no data.
#include "recipes/blocks/describe.h"

#include <fmt/format.h>
#include <gtest/gtest.h>

#include <algorithm>
#include <cmath>
#include <filesystem>
#include <fstream>
#include <sstream>

#include "models/model_spec.h"
#include "recipes/blocks/build_blocks.h"
#include "recipes/data/task_data.h"
#include "runtime/allocator.h"
#include "tests/recipes/small_data.h"

namespace torus::recipes {
namespace {

DataForm Published(const Settings& settings) {
  return PublishedForm(settings, [](const char*) { return false; });
}

Settings Of(const std::string& model) {
  Settings settings;
  settings.model = model;
  settings.batch_size = 4;
  settings.stages = 2;
  return settings;
}

// Parameters, MFLOP and MiB of the row of sums.
struct Sum {
  int64_t parameters = 0;
  double mflop = 0, mib = 0;
};

Sum SumOf(const Settings& settings, const DataForm& form) {
  const std::string text = DescribeRun(settings, form, {1});
  std::istringstream row(text.substr(text.find("\n       sum ")));
  std::string name;
  Sum sum;
  row >> name >> sum.parameters >> sum.mflop >> sum.mib;
  return sum;
}
Sum SumOf(const std::string& model) { return SumOf(Of(model), Published(Of(model))); }

// torchvision's and transformers' counts.
TEST(Describe, SumsThePublishedParameters) {
  EXPECT_EQ(SumOf("roberta").parameters, 124647170);
  EXPECT_EQ(SumOf("vgg13").parameters, 133047848);
  EXPECT_EQ(SumOf("resnet101").parameters, 44549160);
  EXPECT_EQ(SumOf("mobilenet_v2").parameters, 3504872);
  EXPECT_EQ(SumOf("gpt2").parameters, 124439808);
}

TEST(Describe, TakesTheFormOfDataFromTheirName) {
  Settings settings = Of("mobilenet_v2");
  settings.data = "cifar10";
  settings.data_dir = "/nowhere";
  EXPECT_EQ(SumOf(settings, FormOfData(settings)).parameters, 2236682);
}

// What a name says of its data is what the data say when they are opened.
void ExpectAsOpened(const Settings& settings) {
  const DataForm known = KnownForm(settings).value(), opened = OpenTaskData(settings).form;
  EXPECT_EQ(known.classes, opened.classes) << settings.data;
  ASSERT_EQ(known.inputs(3).size(), opened.inputs(3).size()) << settings.data;
  for (size_t i = 0; i < known.inputs(3).size(); ++i) {
    EXPECT_EQ(known.inputs(3)[i].shape, opened.inputs(3)[i].shape) << settings.data;
    EXPECT_EQ(known.inputs(3)[i].dtype, opened.inputs(3)[i].dtype) << settings.data;
  }
}

TEST(Describe, KnowsTheFormThatOpenedDataHave) {
  const std::string folder = ::testing::TempDir() + "/describe_data";
  std::filesystem::create_directories(folder);
  testing::WriteImages(folder, "train", 10);
  testing::WriteImages(folder, "t10k", 10);
  Settings images = Of("mobilenet_v2");
  images.data_dir = folder;
  ExpectAsOpened(images);
  images.image_size = 48;
  ExpectAsOpened(images);
  std::ofstream(folder + "/text.txt") << std::string(400, 'a');
  Settings text = Of("gpt2");
  text.data = "text";
  text.tokenizer = "bytes";
  text.data_dir = folder + "/text.txt";
  text.length = 8;
  ExpectAsOpened(text);
}

double NumberBehind(const std::string& text, const std::string& words) {
  const size_t at = text.find(words);
  EXPECT_NE(at, std::string::npos) << "no \"" << words << "\" in " << text;
  return at == std::string::npos ? NAN : std::stod(text.substr(at + words.size()));
}

// In both directions GPipe's two ranks end after a micro-batch of each stage and M - 1 more of the
// slower one.
TEST(Describe, PrintsTheBubbleOfItsOwnStages) {
  Settings settings = Of("mobilenet_v2");
  settings.micro_batches = 4;
  for (const int cut : {1, 12, 20}) {
    const std::string text = DescribeRun(settings, Published(settings), {cut});
    const double first = NumberBehind(text, fmt::format("layers 0 to {}, ", cut - 1)),
                 second = NumberBehind(text, fmt::format("layers {} to 20, ", cut));
    EXPECT_NEAR(first + second, 100, 0.11);
    const double end = first + second + 3 * std::max(first, second);
    EXPECT_NEAR(NumberBehind(text, " with equal stages, "), 100 * (1 - 4 * 100 / (2 * end)), 0.3)
        << text;
    EXPECT_EQ(NumberBehind(text, "schedule gpipe, bubble "), 20.0);
  }
}

// 2 multiply-adds a parameter and token but for the embeddings (50257 + 2048) x 2048, whose rows
// are read; the head of 2048^2 + 2 x 2048 sees one token; and 4 T^2 width a layer for attention.
TEST(Describe, CountsTheArithmeticOfGpt3XlAtFullSize) {
  const double width = 2048, tokens = 2048, layers = 24;
  const Sum sum = SumOf("gpt3-xl");
  EXPECT_EQ(sum.parameters, 1319919618);
  const double matrices = 2 * layers * 12 * width * width * tokens,
               attention = layers * 4 * tokens * tokens * width,
               head = 2 * (width * width + 2 * width);
  EXPECT_NEAR(sum.mflop, 1e-6 * (matrices + attention + head), 0.01);
}

TEST(Describe, TakesNoMemoryForAnyModel) {
  AllocatorFor({}).ResetPeak();
  const size_t before = AllocatorFor({}).stats().peak_bytes;
  for (const std::string& model : ModelNames()) {
    const Settings settings = Of(model);
    const DataForm form = Published(settings);
    const Sum sum = SumOf(settings, form);
    EXPECT_GT(sum.parameters, 0) << model;
    EXPECT_GT(sum.mflop, 0) << model;
    EXPECT_GT(sum.mib, 0) << model;
    int64_t parameters = 0;
    for (const nn::LayerSummary& layer : DescribeLayers(settings, form))
      parameters += layer.parameters;
    EXPECT_EQ(sum.parameters, parameters) << model;
  }
  // Running statistics of batch norms, and an element a parameter.
  EXPECT_LT(AllocatorFor({}).stats().peak_bytes - before, size_t{16} << 20);
}

}  // namespace
}  // namespace torus::recipes
