// Replay must find what is wrong: cases are written here, right and with one thing changed.
#include "tools/replay/replay.h"

#include <gtest/gtest.h>

#include <filesystem>
#include <limits>
#include <sstream>

#include "runtime/error.h"
#include "runtime/io/safetensors.h"
#include "runtime/on_device.h"

namespace torus::replay {
namespace {

using Tensors = std::vector<NamedTensor>;

Tensor F32(const std::vector<float>& values, const Shape& shape) {
  return FromVector(values, shape);
}

std::string Report(const std::string& spec, const Tensors& tensors, Totals* totals = nullptr) {
  const std::string path = ::testing::TempDir() + "/one.safetensors";
  WriteSafetensors(path, tensors, {{"format", "1"}, {"case", spec}});
  std::ostringstream out;
  const Totals made = Replay({path}, {}, out);
  if (totals != nullptr) *totals = made;
  return out.str();
}

const char kMul[] = R"({"op": "mul", "attrs": {}})";

Tensors MulCase() {
  return {{"in.input", F32({1, 2, 3}, {3})},      {"in.other", F32({4}, {1})},
          {"out.0", F32({4, 8, 12}, {3})},        {"grad_out.0", F32({1, 1, 2}, {3})},
          {"grad_in.input", F32({4, 4, 8}, {3})}, {"grad_in.other", F32({9}, {1})}};
}

TEST(Replay, PassesARightCase) {
  Totals totals;
  const std::string report = Report(kMul, MulCase(), &totals);
  EXPECT_EQ(totals.passed, 1) << report;
  EXPECT_NE(report.find("1 passed, 0 failed, 0 unsupported\n"), std::string::npos) << report;
}

TEST(Replay, PassesRunningSumsAndTheErrorFunction) {
  const Tensors sums{{"in.input", F32({1, 2, 3}, {3})},
                     {"out.0", F32({1, 3, 6}, {3})},
                     {"grad_out.0", F32({1, 1, 2}, {3})},
                     {"grad_in.input", F32({4, 3, 2}, {3})}};
  const Tensors erf{{"in.input", F32({0, 1}, {2})},
                    {"out.0", F32({0, 0.84270079f}, {2})},
                    {"grad_out.0", F32({1, 2}, {2})},
                    {"grad_in.input", F32({1.1283792f, 0.83021499f}, {2})}};
  Totals totals;
  std::string report = Report(R"({"op": "cumsum", "attrs": {"dim": -1}})", sums, &totals);
  EXPECT_EQ(totals.passed, 1) << report;
  report = Report(R"({"op": "erf", "attrs": {}})", erf, &totals);
  EXPECT_EQ(totals.passed, 1) << report;
}

bool Passes(const std::string& spec, const Tensors& tensors) {
  return Report(spec, tensors).starts_with("pass");
}

// The reference's choice for a number differs from that for a tensor.
TEST(Replay, NumbersAreNotTensors) {
  const float infinity = std::numeric_limits<float>::infinity();
  const float nan = std::numeric_limits<float>::quiet_NaN();
  EXPECT_TRUE(Passes(R"({"op": "pow", "attrs": {"exponent": 0.5}})",
                     {{"in.input", F32({-infinity, 4}, {2})}, {"out.0", F32({nan, 2}, {2})}}));
  EXPECT_TRUE(Passes(R"({"op": "pow", "attrs": {}})", {{"in.input", F32({-infinity, 4}, {2})},
                                                       {"in.exponent", F32({0.5}, {})},
                                                       {"out.0", F32({infinity, 2}, {2})}}));
  EXPECT_TRUE(Passes(R"({"op": "clamp", "attrs": {"min": 0, "max": 1}})",
                     {{"in.input", F32({0, 0.5, 2}, {3})},
                      {"out.0", F32({0, 0.5, 1}, {3})},
                      {"grad_out.0", F32({1, 1, 1}, {3})},
                      {"grad_in.input", F32({0, 1, 0}, {3})}}));
}

Tensors WithGradient(const Tensor& input, const Tensor& output, const Tensor& seed,
                     const Tensor& gradient) {
  return {
      {"in.input", input}, {"out.0", output}, {"grad_out.0", seed}, {"grad_in.input", gradient}};
}

// Where a gradient is what is left of larger terms, their rounding is allowed and no more.
TEST(Replay, AllowsTheRoundingOfWhatCancels) {
  const float small = 0x1p-24f;
  const Tensor seeds = F32({1, small, -1}, {3});
  const auto expanded = [&](float gradient) {
    return WithGradient(F32({2}, {1}), F32({2, 2, 2}, {3}), seeds, F32({gradient}, {1}));
  };
  const char expand[] = R"({"op": "expand", "attrs": {"size": [3]}})";
  EXPECT_TRUE(Passes(expand, expanded(0)) && Passes(expand, expanded(small)));
  EXPECT_FALSE(Passes(expand, expanded(1e-4f)));

  const auto softmax = [&](float gradient) {
    return WithGradient(F32({20, 0}, {2}), F32({1, 2.0611537e-9f}, {2}), F32({3, -5}, {2}),
                        F32({gradient, -gradient}, {2}));
  };
  const char along[] = R"({"op": "softmax", "attrs": {"dim": 0}})";
  EXPECT_TRUE(Passes(along, softmax(1.6489229e-8f)));
  EXPECT_FALSE(Passes(along, softmax(1e-4f)));
}

// exp(x - y) with a y of about 1000 and its rounding.
TEST(Replay, AllowsTheRoundingOfALogSumExp) {
  const auto sum = [](float larger) {
    return WithGradient(F32({1000, 995}, {2}), F32({1000.0067f}, {}), F32({1}, {}),
                        F32({larger, 0.0066929f}, {2}));
  };
  const char spec[] = R"({"op": "logsumexp", "attrs": {"dim": 0}})";
  EXPECT_TRUE(Passes(spec, sum(0.99333f)));
  EXPECT_FALSE(Passes(spec, sum(0.996f)));
}

// More pieces than a shape has dimensions.
TEST(Replay, SplitsIntoManyPieces) {
  Tensors tensors{{"in.input", F32({0, 1, 2, 3, 4, 5, 6, 7, 8, 9}, {10})}};
  for (int i = 0; i < 9; ++i) {
    const float x = static_cast<float>(i);
    tensors.push_back({"out." + std::to_string(i), i < 8 ? F32({x}, {1}) : F32({8, 9}, {2})});
  }
  const char spec[] = R"({"op": "split", "attrs": {"split_size": [1, 1, 1, 1, 1, 1, 1, 1, 2]}})";
  Totals totals;
  const std::string report = Report(spec, tensors, &totals);
  EXPECT_EQ(totals.passed, 1) << report;
}

TEST(Replay, FailsForAnyTensorThatIsWrong) {
  for (const size_t wrong : {2, 4, 5}) {
    Tensors tensors = MulCase();
    tensors[wrong].value = tensors[wrong].value.Clone();
    tensors[wrong].value.mutable_data<float>()[0] *= 1.0001f;
    const std::string report = Report(kMul, tensors);
    EXPECT_EQ(report.rfind("fail", 0), 0u) << report;
    EXPECT_NE(report.find(tensors[wrong].name), std::string::npos) << report;
    EXPECT_NE(report.find("tolerance"), std::string::npos) << report;
  }
}

TEST(Replay, FailsForAnotherShape) {
  Tensors tensors = MulCase();
  tensors[2].value = tensors[2].value.View({1, 3});
  EXPECT_NE(Report(kMul, tensors).find("got f32 (3), wanted f32 (1, 3)"), std::string::npos);
}

TEST(Replay, NanEqualsNanAlone) {
  const float nan = std::numeric_limits<float>::quiet_NaN();
  const char spec[] = R"({"op": "neg", "attrs": {}})";
  EXPECT_EQ(Report(spec, {{"in.input", F32({nan}, {1})}, {"out.0", F32({nan}, {1})}}).substr(0, 4),
            "pass");
  EXPECT_EQ(Report(spec, {{"in.input", F32({nan}, {1})}, {"out.0", F32({1}, {1})}}).substr(0, 4),
            "fail");
}

TEST(Replay, IgnoresNoArgument) {
  const std::string attr = Report(R"({"op": "mul", "attrs": {"twist": 3}})", MulCase());
  EXPECT_EQ(attr.rfind("unsupported", 0), 0u) << attr;
  EXPECT_NE(attr.find("twist (3)"), std::string::npos) << attr;
  Tensors tensors = MulCase();
  tensors.push_back({"in.third", F32({1}, {1})});
  EXPECT_NE(Report(kMul, tensors).find("third is not known"), std::string::npos);
}

TEST(Replay, SaysWhatItDoesNotKnow) {
  for (const char* spec : {R"({"op": "bessel_j0", "attrs": {}})",
                           R"({"op": "model", "model": "vgg14", "mode": "train"})",
                           R"({"op": "optimizer", "optimizer": {"name": "sm3"}})"}) {
    const std::string report = Report(
        spec,
        {{"param.p", F32({1}, {1})}, {"grad.p", F32({1}, {1, 1})}, {"out.p", F32({1}, {1, 1})}});
    EXPECT_EQ(report.rfind("unsupported", 0), 0u) << report;
  }
}

TEST(Replay, NamesTheConvolutionThatItDoesNotKnow) {
  for (const char* op : {"conv1d", "conv2d"}) {
    const Shape shape = std::string(op) == "conv1d" ? Shape{1, 1, 1} : Shape{1, 1, 1, 1};
    const std::string report =
        Report(std::string(R"({"op": ")") + op + R"(", "attrs": {"padding": "half"}})",
               {{"in.input", F32({1}, shape)},
                {"in.weight", F32({1}, shape)},
                {"out.0", F32({1}, shape)}});
    EXPECT_EQ(report.rfind("unsupported", 0), 0u) << report;
    EXPECT_NE(report.find(std::string("[") + op + "] padding half"), std::string::npos) << report;
  }
}

TEST(Replay, AnUnreadableFileFails) {
  const std::string path = ::testing::TempDir() + "/none.safetensors";
  std::ostringstream out;
  EXPECT_EQ(Replay({path}, {}, out).failed, 1);
  EXPECT_EQ(Report(R"({"no": "op"})", {{"in.input", F32({1}, {1})}}).substr(0, 4), "fail");
}

TEST(Replay, RefusesADeviceThatTheBuildHasNot) {
  if (kHasCuda) GTEST_SKIP() << "this build has CUDA";
  std::ostringstream out;
  EXPECT_THROW(Replay({}, {DeviceKind::kCuda}, out), BadInput);
}

TEST(FindCases, TakesFilesAndFolders) {
  const std::string folder = ::testing::TempDir() + "/cases";
  std::filesystem::create_directories(folder);
  for (const char* name : {"b", "a"})
    WriteSafetensors(folder + "/" + name + ".safetensors", {{"x", F32({1}, {1})}});
  const std::vector<std::string> found = FindCases({folder, folder + "/b.safetensors"});
  ASSERT_EQ(found.size(), 3u);
  EXPECT_NE(found[0].find("/a."), std::string::npos);
  EXPECT_THROW(FindCases({folder + "/none"}), BadInput);
}

}  // namespace
}  // namespace torus::replay
