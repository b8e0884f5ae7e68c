// Checkpoints as training programs write them (tests/golden/make_checkpoints.py).
#include <algorithm>
#include <filesystem>
#include <fstream>

#include "models/checkpoint/load_weights.h"
#include "models/checkpoint/torch_file.h"
#include "tests/models/checkpoint/small_net.h"

namespace torus::testing {
namespace {

namespace fs = std::filesystem;

struct Case {
  const char* file;
  const char* state;  // in expected.safetensors
  const char* part;   // where the weights are
  const char* left;   // one of what is left; empty: nothing is
};

class Checkpoints : public ::testing::TestWithParam<Case> {};

TEST_P(Checkpoints, AreReadAsPyTorchReadsThem) {
  const auto [file, state, part, left] = GetParam();
  const auto net = SmallNet();
  const TakenWeights taken = LoadWeights(*net, kCheckpoints + file);
  ExpectState(*net, state);
  EXPECT_EQ(taken.part, part);
  const std::string line = taken.Line(file);
  if (*left == '\0') {
    EXPECT_EQ(taken.left, std::vector<std::string>());
  } else {
    EXPECT_NE(std::ranges::find(taken.left, left), taken.left.end()) << line;
  }
  EXPECT_NE(line.find(part), std::string::npos) << line;
  EXPECT_EQ(line.find('\n'), std::string::npos);
}

INSTANTIATE_TEST_SUITE_P(
    Files, Checkpoints,
    ::testing::Values(
        Case{"imagenet.pth", "plain", "state_dict", "optimizer (15 tensors)"},
        Case{"imagenet_parallel.pth", "plain", "state_dict", "best_acc1 (1 tensor)"},
        Case{"torchvision.pth", "plain", "model", "lr_scheduler"},
        Case{"torchvision_ema.pth", "plain", "model", "model_ema (9 tensors)"},
        Case{"torchvision_ema_legacy.pth", "plain", "model", "model_ema (9 tensors)"},
        Case{"model_state_dict.pth", "plain", "model_state_dict", "loss"},
        Case{"lightning.pth", "plain", "state_dict.model", "state_dict.criterion (1 tensor)"},
        Case{"compiled.pth", "plain", "", ""},
        Case{"compiled_parallel.pth", "plain", "state_dict", ""},
        Case{"parallel_compiled.pth", "plain", "net", ""},
        Case{"part_compiled.pth", "plain", "", ""},
        Case{"averaged.pth", "ema", "module", "n_averaged (1 tensor)"},
        Case{"averaged_nested.pth", "ema", "average.weights.module",
             "average.weights.n_averaged (1 tensor)"},
        Case{"chain.pth", "plain", "checkpoint.student.net.backbone", "checkpoint.iteration"},
        Case{"beside.pth", "plain", "weights", "args"},
        Case{"beside_legacy.pth", "plain", "weights", "hostile"},
        Case{"beside_protocol1.pth", "plain", "weights", "args"},
        Case{"beside_protocol3.pth", "plain", "weights", "raw"},
        Case{"beside_protocol4.pth", "plain", "weights", "classes_seen"},
        Case{"beside_protocol5.pth", "plain", "weights", "frozen"},
        Case{"half.pth", "half", "", ""}, Case{"expanded.pth", "expanded", "state_dict", ""},
        Case{"parameters.pth", "plain", "params", ""}, Case{"whole_model.pth", "plain", "", ""},
        Case{"whole_model_in_dict.pth", "plain", "model", "ema (9 tensors)"},
        Case{"twice.pth", "plain", "net_a", "net_b (8 tensors)"},
        Case{"negative.pth", "plain", "", ""}, Case{"negative_legacy.pth", "plain", "", ""},
        Case{"unread.pth", "plain", "weights", "complex"},
        Case{"unread_legacy.pth", "plain", "weights", "after (1 tensor)"},
        Case{"narrow.pth", "narrow", "", ""}, Case{"narrow.safetensors", "narrow", "", ""}),
    [](const auto& info) {
      std::string name = info.param.file;
      std::ranges::replace(name, '.', '_');
      return name;
    });

TEST(Checkpoints, AnAverageIsTakenOnRequest) {
  for (const char* file : {"torchvision_ema.pth", "torchvision_ema_legacy.pth"}) {
    const auto net = SmallNet();
    EXPECT_EQ(LoadWeights(*net, {kCheckpoints + file, "model_ema"}).part, "model_ema.module");
    ExpectState(*net, "ema");
  }
  const auto net = SmallNet();
  LoadWeights(*net, {kCheckpoints + "whole_model_in_dict.pth", "ema"});
  ExpectState(*net, "ema");
}

TEST(Checkpoints, AnOpenChoiceIsRefusedWithTheNamesAndTheFlag) {
  const auto net = SmallNet();
  const std::string file = kCheckpoints + "ambiguous.pth";
  EXPECT_EQ(ErrorOf([&] { LoadWeights(*net, file); }),
            "[" + file +
                "] has 2 sets of weights that fit equally well: net_a, net_b; choose one with "
                "--init-part");
  EXPECT_NE(ErrorOf([&] {
              LoadWeights(*net, {file, "net_c"});
            }).find("has no tensors under --init-part net_c; it has net_a (8 tensors), net_b"),
            std::string::npos);
  LoadWeights(*net, {file, "net_b"});
  ExpectState(*net, "ema");
  LoadWeights(*net, {file, "net_a"});
  ExpectState(*net, "plain");
}

TEST(Checkpoints, WhatLiesBesideTheWeightsIsShownAndNothingIsCalled) {
  const std::string called = "/tmp/torus_read_a_pickle_and_called_it";
  fs::remove(called);
  for (const char* file :
       {"beside.pth", "beside_legacy.pth", "beside_protocol1.pth", "beside_protocol3.pth",
        "beside_protocol4.pth", "beside_protocol5.pth"}) {
    const std::vector<std::string> others = ReadTorchFile(kCheckpoints + file).others;
    for (const char* other :
         {"args.lr = 0.1", "args.device = torch.device(\"cuda\", 0)", "classes_seen = {1, 2, 3}",
          "counts.a = 2", "history.loss = [1.5, 1.25]", "history.accuracy = [0.5, 0.75]",
          "raw = (8 bytes)", "size = (2, 3)", "dtype = torch.bfloat16", "best = 91.73",
          "meter.sum = 3.5"})
      EXPECT_NE(std::ranges::find(others, other), others.end()) << other << " in " << file;
    EXPECT_TRUE(std::ranges::any_of(others, [](const std::string& other) {
      return other.starts_with("hostile = posix.system(\"touch ");
    })) << file;
  }
  EXPECT_FALSE(fs::exists(called));
}

TEST(Checkpoints, TypesThatTensorsHaveNotAreWrittenAsTheyWereRead) {
  const std::string path = ::testing::TempDir() + "/narrow.safetensors";
  const SafetensorsFile file = ReadSafetensors(kCheckpoints + "narrow.safetensors");
  const NarrowTypes want{{"conv.weight", "F8_E4M3"}, {"bn.weight", "F8_E5M2"},
                         {"bn.bias", "I8"},          {"bn.running_mean", "I16"},
                         {"bn.running_var", "U16"},  {"fc.weight", "U32"}};
  EXPECT_EQ(file.narrow, want);
  EXPECT_EQ(ReadTorchFile(kCheckpoints + "narrow.pth").narrow, want);
  WriteSafetensors(path, file.tensors, {}, file.narrow);
  const SafetensorsFile again = ReadSafetensors(path);
  EXPECT_EQ(again.narrow, want);
  const auto before = ByName(file.tensors), after = ByName(again.tensors);
  for (const auto& [name, value] : before) EXPECT_TRUE(SameBits(value, after.at(name))) << name;
}

// A folder of the older form, made of the shards.
class Folders : public ::testing::Test {
 protected:
  void SetUp() override {
    fs::remove_all(folder_);
    fs::create_directories(folder_);
    Write("config.json", "{}");
  }
  void Write(const std::string& name, const std::string& text) const {
    std::ofstream(folder_ + "/" + name) << text;
  }
  void CopyHere(const std::string& name, const std::string& as = "") const {
    fs::copy_file(kCheckpoints + name, folder_ + "/" + (as.empty() ? name : as));
  }
  void WriteIndex(const std::string& from, const std::string& to) const {
    std::ifstream in(kCheckpoints + "pytorch_model.bin.index.json");
    std::string text{std::istreambuf_iterator<char>(in), {}};
    if (const size_t at = text.find(from); at != std::string::npos)
      text.replace(at, from.size(), to);
    Write("pytorch_model.bin.index.json", text);
  }
  void CopyShards() const {
    CopyHere("pytorch_model-00001-of-00002.bin");
    CopyHere("pytorch_model-00002-of-00002.bin");
  }

  const std::string folder_ = ::testing::TempDir() + "/folder";
};

TEST_F(Folders, OfTorchSaveAreRead) {
  CopyHere("compiled.pth", "pytorch_model.bin");
  const auto net = SmallNet();
  LoadWeights(*net, folder_);
  ExpectState(*net, "plain");
}

TEST_F(Folders, OfTorchSaveInShardsAreRead) {
  CopyShards();
  WriteIndex("", "");
  const auto net = SmallNet();
  EXPECT_EQ(LoadWeights(*net, folder_).Line("folder"), "");
  ExpectState(*net, "plain");
  fs::remove(folder_ + "/pytorch_model-00002-of-00002.bin");
  EXPECT_NE(ErrorOf([&] { LoadWeights(*net, folder_); }).find("pytorch_model-00002-of-00002.bin"),
            std::string::npos);
}

TEST_F(Folders, AnIndexMayListWhatAShardLacksAndLackWhatItHas) {
  CopyShards();
  WriteIndex("\"weight_map\": {",
             "\"weight_map\": {\n    \"tied.weight\": "
             "\"pytorch_model-00001-of-00002.bin\",");
  const auto net = SmallNet();
  EXPECT_EQ(LoadWeights(*net, folder_).Line("folder"),
            "folder: pytorch_model-00001-of-00002.bin lacks tied.weight, which "
            "pytorch_model.bin.index.json places there");
  ExpectState(*net, "plain");
  WriteIndex("\"fc.bias\"", "\"fc.other\"");
  EXPECT_EQ(LoadWeights(*net, folder_).differences.size(), 2U);
}

// They are there, but not as dense tensors: "missing" would send the reader elsewhere.
TEST(Misfit, NamesWeightsThatAreThereInAnotherForm) {
  const auto net = SmallNet();
  const std::string error =
      ErrorOf([&] { LoadWeights(*net, kCheckpoints + "unread_weights.pth"); });
  for (const char* words :
       {"in 3 tensors", "bn.weight is a tensor and must be a dense tensor of real numbers",
        "bn.bias is torch._utils._rebuild_qtensor(...) and must be",
        "fc.weight is torch._utils._rebuild_sparse_tensor(...) and must be"})
    EXPECT_NE(error.find(words), std::string::npos) << error;
  EXPECT_EQ(error.find("missing"), std::string::npos) << error;
}

TEST(Misfit, SaysWhatAFileWithoutTensorsHolds) {
  const auto net = SmallNet();
  const std::string file = kCheckpoints + "no_tensors.pth";
  EXPECT_EQ(ErrorOf([&] { LoadWeights(*net, file); }),
            "[" + file +
                "] must have tensors, but has none: epoch = 3, args.lr = 0.1, note = "
                "\"weights are elsewhere\"");
}

TEST(Misfit, ShowsMissingBesideSurplusAndGuessesTheBeginning) {
  const auto net = SmallNet();
  std::vector<NamedTensor> state;
  for (const NamedTensor& tensor : StateDict(*net))
    state.push_back({"encoder." + tensor.name, tensor.value});
  const std::string error = ErrorOf([&] { LoadStateDict(*net, state, "file"); });
  EXPECT_NE(error.find("conv.weight is missing"), std::string::npos) << error;
  EXPECT_NE(error.find("encoder.bn.bias is surplus"), std::string::npos) << error;
  EXPECT_TRUE(error.ends_with("; 7 of the missing names are there with encoder. in front"))
      << error;
}

// The same beginning with another in its place is no change that is made unasked.
TEST(Misfit, GuessesWhatABeginningStandsFor) {
  auto net = std::make_shared<nn::Sequential>();
  net->Add("roberta", SmallNet());
  std::vector<NamedTensor> state;
  for (const NamedTensor& tensor : StateDict(*net))
    state.push_back({"bert" + tensor.name.substr(std::string("roberta").size()), tensor.value});
  const std::string path = ::testing::TempDir() + "/bert.safetensors";
  WriteSafetensors(path, state);
  const std::string error = ErrorOf([&] { LoadWeights(*net, path); });
  EXPECT_TRUE(error.ends_with("are there with bert. in front instead of roberta.")) << error;
}

}  // namespace
}  // namespace torus::testing
