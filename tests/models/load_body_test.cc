// LoadBody: the weights of a model whose head is another.
#include <gtest/gtest.h>

#include <cstring>
#include <filesystem>
#include <map>
#include <set>
#include <string>

#include "models/checkpoint/hugging_face.h"
#include "models/checkpoint/load_weights.h"
#include "models/checkpoint/state_dict.h"
#include "models/gpt2/config.h"
#include "models/gpt2/descriptor.h"
#include "models/roberta/config.h"
#include "models/roberta/descriptor.h"
#include "models/vgg/vgg.h"
#include "runtime/io/safetensors.h"
#include "tests/models/small_text_models.h"
#include "tests/testing/error_of.h"

namespace torus {
namespace {

using testing::ErrorOf;
using testing::SameBits;
using testing::SmallGpt2;
using testing::SmallRoberta;

std::string Folder(const char* name) { return ::testing::TempDir() + "/" + name; }

using NameSet = std::set<std::string>;

NameSet SetOf(const std::vector<std::string>& names) { return {names.begin(), names.end()}; }

// A file of those tensors.
std::string FileOf(const std::vector<NamedTensor>& state) {
  const std::string path = Folder("state.safetensors");
  WriteSafetensors(path, state);
  return path;
}

TEST(LoadBody, HoldsATrainedHeadAgainstTheEmbeddingThatItIsTiedTo) {
  const auto saved = Gpt2(SmallGpt2()), loaded = Gpt2(SmallGpt2());
  saved->Initialize(1);
  std::vector<NamedTensor> state = StateDict(*saved);
  state.push_back({"lm_head.weight", Zeros(state[0].value.shape())});
  EXPECT_NE(ErrorOf([&] {
              LoadBody(*loaded, FileOf(state));
            }).find("lm_head.weight differs from transformer.wte.weight, to which it is tied"),
            std::string::npos);
  state.back().value = state[0].value;
  state.erase(state.begin());  // under the head's name alone
  EXPECT_TRUE(LoadBody(*loaded, FileOf(state), Gpt2Names()).left_out.empty());
  EXPECT_TRUE(SameBits(StateDict(*saved), StateDict(*loaded)));
}

TEST(LoadBody, HoldsTheMaskedHeadsOtherNamesAgainstIt) {
  RobertaOptions lm = SmallRoberta();
  lm.head = RobertaHead::kMaskedLm;
  const auto saved = Roberta(lm), loaded = Roberta(lm);
  saved->Initialize(1);
  std::vector<NamedTensor> state = StateDict(*saved);
  state.push_back({"lm_head.decoder.bias", Zeros({40})});
  const BodyNotes notes = LoadBody(*loaded, FileOf(state), RobertaNames());
  EXPECT_TRUE(notes.kept.empty() && notes.left_out.empty());
  EXPECT_TRUE(SameBits(StateDict(*saved), StateDict(*loaded)));
  state.back().value = Full({40}, 1);
  EXPECT_NE(ErrorOf([&] {
              LoadBody(*loaded, FileOf(state), RobertaNames());
            }).find("lm_head.decoder.bias differs from lm_head.bias"),
            std::string::npos);
}

// RobertaModel.save_pretrained: neither "roberta." nor a head, but a pooler.
TEST(LoadBody, TakesABodyThatWasSavedAlone) {
  const auto saved = Roberta(SmallRoberta()), loaded = Roberta(SmallRoberta());
  saved->Initialize(1);
  loaded->Initialize(2);
  std::vector<NamedTensor> state, want = StateDict(*loaded);
  for (NamedTensor& tensor : StateDict(*saved)) {
    if (tensor.name.starts_with("classifier.")) continue;
    state.push_back({tensor.name.substr(std::string("roberta.").size()), tensor.value});
    for (NamedTensor& w : want)
      if (w.name == tensor.name) w.value = tensor.value;
  }
  state.push_back({"pooler.dense.weight", Zeros({12, 12})});
  state.push_back({"pooler.dense.bias", Zeros({12})});
  const BodyNotes notes = LoadBody(*loaded, FileOf(state), RobertaNames());
  EXPECT_EQ(SetOf(notes.left_out), (NameSet{"pooler.dense.weight", "pooler.dense.bias"}));
  EXPECT_EQ(notes.kept.size(), 4u);
  EXPECT_TRUE(SameBits(StateDict(*loaded), want));
}

// The last layer of VGG shares its prefix with the two before.
TEST(LoadBody, KnowsAHeadByItsExactNames) {
  const auto model = Vgg({.depth = 11, .num_classes = 3, .hidden = 2});
  model->Initialize(1);
  const std::vector<NamedTensor> before = StateDict(*model);
  std::vector<NamedTensor> state = before;
  std::erase_if(state, [](const NamedTensor& t) { return t.name.starts_with("classifier.6."); });
  ASSERT_EQ(state.size() + 2, before.size());
  const BodyNotes notes = LoadBody(*model, FileOf(state));
  EXPECT_EQ(notes.kept, (std::vector<std::string>{"classifier.6.weight", "classifier.6.bias"}));
  std::erase_if(state, [](const NamedTensor& t) { return t.name == "classifier.3.bias"; });
  EXPECT_NE(ErrorOf([&] { LoadBody(*model, FileOf(state)); }).find("classifier.3.bias is missing"),
            std::string::npos);
}

// As transformers saved classifiers before 4.0: with the pooler, which they do not use.
TEST(LoadWeights, LeavesTheTensorsOfAnotherHead) {
  const auto saved = Roberta(SmallRoberta()), loaded = Roberta(SmallRoberta());
  saved->Initialize(1);
  std::vector<NamedTensor> state = StateDict(*saved);
  state.push_back({"roberta.pooler.dense.weight", Zeros({16, 16})});
  state.push_back({"roberta.pooler.dense.bias", Zeros({16})});
  const TakenWeights taken = LoadWeights(*loaded, FileOf(state), RobertaNames());
  EXPECT_TRUE(SameBits(StateDict(*saved), StateDict(*loaded)));
  EXPECT_EQ(SetOf(taken.left),
            (NameSet{"roberta.pooler.dense.bias", "roberta.pooler.dense.weight"}));
  EXPECT_EQ(taken.tensors, static_cast<int64_t>(state.size()) - 2);
  state.back().name = "roberta.other.bias";
  EXPECT_NE(ErrorOf([&] {
              LoadWeights(*loaded, FileOf(state), RobertaNames());
            }).find("roberta.other.bias is surplus"),
            std::string::npos);
}

TEST(LoadWeights, TakesAFileThatWasReadAlready) {
  const auto saved = Roberta(SmallRoberta()), loaded = Roberta(SmallRoberta());
  saved->Initialize(1);
  const std::string path = FileOf(StateDict(*saved));
  const FileWeights file = ReadWeights(path);
  std::filesystem::remove(path);
  LoadWeights(*loaded, file, path, RobertaNames());
  EXPECT_TRUE(SameBits(StateDict(*saved), StateDict(*loaded)));
}

// Buffers of older versions of transformers, whose values are the same in every file.
TEST(LoadWeights, LeavesTheBuffersOfOlderVersions) {
  const auto saved = Roberta(SmallRoberta()), loaded = Roberta(SmallRoberta());
  saved->Initialize(1);
  std::vector<NamedTensor> state = StateDict(*saved);
  for (const char* name : {"position_ids", "token_type_ids"})
    state.push_back({fmt::format("roberta.embeddings.{}", name), Zeros({1, 16}, DType::kI64)});
  LoadWeights(*loaded, FileOf(state), RobertaNames());
  EXPECT_TRUE(SameBits(StateDict(*saved), StateDict(*loaded)));
}

TEST(LoadBody, KeepsAHeadThatTheFileHasNot) {
  RobertaOptions lm = SmallRoberta();
  lm.head = RobertaHead::kMaskedLm;
  const auto pretrained = Roberta(lm), model = Roberta(SmallRoberta());
  pretrained->Initialize(1);
  model->Initialize(2);
  const std::vector<NamedTensor> before = StateDict(*model);
  WriteHuggingFace(Folder("lm"), {ToConfig(lm), StateDict(*pretrained)});
  EXPECT_NE(ErrorOf([&] { LoadWeights(*model, Folder("lm"), RobertaNames()); }), "no error");
  const BodyNotes notes = LoadBody(*model, Folder("lm"), RobertaNames());
  EXPECT_EQ(SetOf(notes.left_out),
            (NameSet{"lm_head.bias", "lm_head.dense.bias", "lm_head.dense.weight",
                     "lm_head.layer_norm.bias", "lm_head.layer_norm.weight"}));
  EXPECT_EQ(SetOf(notes.kept), (NameSet{"classifier.dense.weight", "classifier.dense.bias",
                                        "classifier.out_proj.weight", "classifier.out_proj.bias"}));
  std::map<std::string, Tensor> body;
  for (const NamedTensor& t : StateDict(*pretrained)) body[t.name] = t.value;
  for (const NamedTensor& t : before)
    if (t.name.starts_with("classifier.")) body[t.name] = t.value;
  for (const NamedTensor& t : StateDict(*model))
    EXPECT_EQ(std::memcmp(t.value.raw(), body.at(t.name).raw(), t.value.bytes()), 0) << t.name;
}

}  // namespace
}  // namespace torus
