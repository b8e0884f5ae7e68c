// convert to a file of ONNX, run as a user runs it.
#include "tests/testing/program.h"

#include "models/build_model.h"
#include "models/checkpoint/hugging_face.h"
#include "models/checkpoint/state_dict.h"
#include "tests/testing/tolerance.h"
#include "tests/tools/convert/onnx/hashed_inputs.h"
#include "tests/tools/convert/onnx/run_graph.h"

namespace torus::onnx::testing {
namespace {

constexpr const char* kModel = "gpt-char:1";
constexpr int64_t kVocabulary = 5;
constexpr const char* kSignature =
    "ONNX opset 17: input_ids (batch, length) to logits (batch, length, 5)\n";

class OnnxProgram : public tools::testing::ProgramTest {
 protected:
  void SetUp() override {
    ProgramTest::SetUp();
    const ModelSpec spec = ParseModelSpec(kModel);
    model_ = spec.build(spec.Config(kVocabulary), kModel, {});
    model_->Initialize(1);
    SaveModel(*model_, Path("weights.safetensors"));
  }
  tools::testing::Ended Convert(const std::vector<std::string>& flags) const {
    return tools::testing::Program("tools/convert/convert", flags, scratch_).Wait();
  }
  std::string Path(const std::string& name) const { return scratch_ + "/" + name; }

  // Whether the file computes what the model does. The graph runs in f64, so they differ by the
  // model's own roundings, of sums of up to 512 terms.
  void ExpectTheModelIn(const std::string& path) const {
    ModelProto file;
    std::ifstream bytes(path, std::ios::binary);
    ASSERT_TRUE(file.ParseFromIstream(&bytes));
    const std::vector<Tensor> ids = HashedTexts(11, kVocabulary);
    const std::vector<double> got = ToVector<double>(RunGraph(file.graph(), ids));
    const Tensor logits = model_->Forward(Variable(ids[0]), {.training = false}).data();
    const std::vector<float> wanted = ToVector<float>(logits);
    ASSERT_EQ(got.size(), wanted.size());
    for (size_t i = 0; i < got.size(); ++i)
      EXPECT_NEAR(got[i], wanted[i], torus::testing::Tolerance(DType::kF32, 512, 1)) << i;
  }

  std::shared_ptr<nn::Sequential> model_;
};

TEST_F(OnnxProgram, WritesAModelOfWeightsWithoutBeingToldItsOutputs) {
  const tools::testing::Ended ended =
      Convert({Path("weights.safetensors"), Path("out.onnx"), "--model", kModel});
  ASSERT_EQ(ended.status, 0) << ended.err;
  EXPECT_EQ(ended.out, "wrote " + Path("out.onnx") + "\n" + kSignature);
  ExpectTheModelIn(Path("out.onnx"));
}

TEST_F(OnnxProgram, WritesAModelOfAFolderThatSaysWhatItIs) {
  WriteHuggingFace(Path("folder"), {.config = ParseModelSpec(kModel).Config(kVocabulary),
                                    .tensors = StateDict(*model_)});
  const tools::testing::Ended ended = Convert({Path("folder"), Path("out.onnx")});
  ASSERT_EQ(ended.status, 0) << ended.err;
  EXPECT_EQ(ended.out, "wrote " + Path("out.onnx") + "\n" + kSignature);
  ExpectTheModelIn(Path("out.onnx"));
  ExpectOneLine(Convert({Path("folder"), Path("other.onnx"), "--model", kModel}), 2,
                "--model gpt-char:1: leave it out");
  ExpectOneLine(Convert({Path("folder"), Path("other.onnx"), "--image-size", "64"}), 2,
                "--image-size 64 needs a VGG model, whose classifier fixes the size, got gpt");
}

TEST_F(OnnxProgram, AFileIsReplacedOnlyWhenAskedTo) {
  std::ofstream(Path("out.onnx")) << "precious";
  std::vector<std::string> flags{Path("weights.safetensors"), Path("out.onnx"), "--model", kModel};
  ExpectOneLine(Convert(flags), 2, "is there already: give another output, or --overwrite");
  flags.emplace_back("--overwrite");
  EXPECT_EQ(Convert(flags).status, 0);
  ExpectTheModelIn(Path("out.onnx"));
}

TEST_F(OnnxProgram, WhatCannotBeIsRefusedAndNothingIsWritten) {
  const std::string weights = Path("weights.safetensors"), out = Path("out.onnx");
  ExpectOneLine(Convert({Path("none"), out}), 2, "none] cannot open: there is no such");
  ExpectOneLine(Convert({weights, out}), 2, "does not say what model it holds: give --model");
  ExpectOneLine(Convert({weights, out, "--model", "llama"}), 2, "has no ONNX form");
  ExpectOneLine(Convert({weights, out, "--model", "resnet18"}), 2, "is it another model?");
  ExpectOneLine(Convert({weights, out, "--model", kModel, "--classes", "6"}), 2, "(6, 128)");
  ExpectOneLine(Convert({weights, out, "--model", kModel, "--dtype", "f16"}), 2,
                "--dtype needs a .safetensors file or a folder as output");
  for (const std::string model : {kModel, "resnet18", "vit_s_16:64"})
    ExpectOneLine(Convert({weights, out, "--model", model, "--image-size", "64"}), 2,
                  "--image-size 64 needs a VGG model, whose classifier fixes the size, got " +
                      model.substr(0, model.find(':')));
  ExpectOneLine(Convert({weights, out, "--model", "vgg11", "--image-size", "64"}), 2,
                "is it another model?");
  ExpectOneLine(Convert({weights, Path("none/out.onnx"), "--model", kModel}), 2,
                "there is no folder");
  EXPECT_FALSE(std::filesystem::exists(out));
}

}  // namespace
}  // namespace torus::onnx::testing
