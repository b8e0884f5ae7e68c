// The program, run as a user runs it: flags that would be ignored are refused.
#include "tests/testing/program.h"

#include "models/checkpoint/hugging_face.h"
#include "runtime/io/checkpoint_reader.h"
#include "runtime/io/safetensors.h"
#include "runtime/tensor.h"
#include "tests/tools/convert/same_tensors.h"

namespace torus::tools::testing {
namespace {

class CodecProgram : public ProgramTest {
 protected:
  std::string File() const {
    const std::string file = scratch_ + "/two.safetensors";
    WriteSafetensors(file, {{"two", FromVector<float>({1, 2}, {2})}});
    return file;
  }
  Ended Run(std::vector<std::string> flags) const {
    flags.insert(flags.begin(), File());
    return Program("tools/codec/codec", flags, scratch_).Wait();
  }
  // What comes back of `input` through a codec that loses nothing.
  TensorMap ThereAndBack(const std::string& input) const {
    const std::string coded = scratch_ + "/coded", back = scratch_ + "/back.safetensors";
    const Ended there =
        Program("tools/codec/codec",
                {input, "--codec", "none", "--repeats", "1", "--encoded", coded}, scratch_)
            .Wait();
    EXPECT_EQ(there.status, 0) << there.err;
    said_ = there.out;
    EXPECT_EQ(Program("tools/codec/codec", {coded, "--decoded", back}, scratch_).Wait().status, 0);
    return ByName(ReadSafetensors(back).tensors);
  }
  mutable std::string said_;
};

// Of a file of torch.save, in either of its forms, what a link could carry.
TEST_F(CodecProgram, TakesFilesOfTorch) {
  TensorMap want;
  for (const auto& [name, value] :
       ByName(ReadSafetensors("tests/golden/torch_files.safetensors").tensors))
    if (value.dtype() == DType::kF32 || IsLow(value.dtype())) want["state_dict." + name] = value;
  ASSERT_EQ(want.size(), 7u);
  for (const char* file : {"tests/golden/zip.pth", "tests/golden/legacy.pth"}) {
    ExpectSame(ThereAndBack(file), want);
    EXPECT_NE(said_.find("left out: state_dict.i64, i64"), std::string::npos) << said_;
  }
}

TEST_F(CodecProgram, TakesAModelsFolder) {
  const TensorMap want = {{"a", FromVector<float>({1, -2, 3}, {3})},
                          {"b", FromVector<float>({0.5, 4}, {2, 1}).To(DType::kBF16)}};
  WriteHuggingFace(
      scratch_ + "/model",
      {.config = {{"model_type", "gpt2"}}, .tensors = {{"a", want.at("a")}, {"b", want.at("b")}}},
      /*shard_bytes=*/8);
  ASSERT_TRUE(std::filesystem::exists(scratch_ + "/model/model.safetensors.index.json"));
  ExpectSame(ThereAndBack(scratch_ + "/model"), want);
  std::filesystem::remove_all(scratch_ + "/model");
  std::filesystem::create_directory(scratch_ + "/model");
  ExpectOneLine(Program("tools/codec/codec", {scratch_ + "/model"}, scratch_).Wait(), 2,
                scratch_ + "/model");
}

TEST_F(CodecProgram, TakesTheCheckpointOfARun) {
  ASSERT_EQ(Train(Small("run", {"--max-steps", "1"})).status, 0);
  const io::CheckpointReader checkpoint(scratch_ + "/run/checkpoint");
  TensorMap want = ByName(checkpoint.ReadAll("weights"));
  std::erase_if(want, [](const auto& tensor) { return tensor.second.dtype() != DType::kF32; });
  const TensorMap back = ThereAndBack(scratch_ + "/run/checkpoint");
  EXPECT_EQ(back.size(), want.size());
  for (const auto& [name, value] : want) EXPECT_TRUE(back.contains(name)) << name;
}

TEST_F(CodecProgram, LinksExcludeWhatTheyDoNotWrite) {
  for (const char* flag : {"--encoded", "--decoded", "--picture"})
    ExpectOneLine(Run({"--links", "1", flag, scratch_ + "/x"}), 2, flag);
  EXPECT_FALSE(std::filesystem::exists(scratch_ + "/x"));
}

TEST_F(CodecProgram, AllDrawsErrorAgainstBytes) {
  setenv("BUILD_WORKING_DIRECTORY", scratch_.c_str(), 1);
  const Ended ended = Run({"--all", "--repeats", "1"});
  EXPECT_NE(ended.out.find("uniform:4/channel"), std::string::npos) << ended.out;
  unsetenv("BUILD_WORKING_DIRECTORY");
  EXPECT_EQ(ended.status, 0) << ended.err;
  EXPECT_NE(ended.out.find("wrote " + scratch_ + "/codec_errors.svg"), std::string::npos)
      << ended.out;
  EXPECT_NE(ReadText(scratch_ + "/codec_errors.svg").find("</svg>"), std::string::npos);
}

// It would be measured without what it remembers.
TEST_F(CodecProgram, MeasuresNoCodecThatRemembers) {
  for (const char* codec : {"delta(uniform:4)", "ef(topk:0.1)"})
    for (const char* links : {"1", ""}) {
      std::vector<std::string> flags{"--codec", codec};
      if (*links != 0) flags.insert(flags.end(), {"--links", links});
      ExpectOneLine(Run(flags), 2, std::string(codec) + " remembers earlier tensors");
    }
  EXPECT_EQ(Run({"--codec", "powersgd:1"}).status, 0);
}

TEST_F(CodecProgram, AllTakesNoOtherCodec) {
  ExpectOneLine(Run({"--all", "--codec", "f16"}), 2,
                "--codec cannot be given with --all, which measures all codecs");
}

TEST_F(CodecProgram, LinksNeedACodec) {
  ExpectOneLine(Run({"--links", "1", "--codec", "none"}), 2, "other than none");
}

// With or without values, and wherever the file stands: it is no link.
TEST_F(CodecProgram, LinksTakeNoFileForASpeed) {
  using Words = std::vector<std::string>;
  const std::string file = File();
  const std::pair<Words, const char*> lines[] = {
      {{"--repeats", "1", "--links", file}, " of 3 as computed"},
      {{"--links", file, "--repeats", "1"}, " of 3 as computed"},
      {{file, "--links", "--repeats", "1"}, " of 3 as computed"},
      {{file, "--repeats", "1", "--links"}, " of 3 as computed"},
      {{"--links", "1", "10", file, "--repeats", "1"}, " of 2 as computed"},
      {{"--links", "1,10", file, "--repeats", "1"}, " of 2 as computed"},
      {{"--links=10", file, "--repeats", "1"}, " of 1 as computed"}};
  for (const auto& [words, says] : lines) {
    const Ended ended = Program("tools/codec/codec", words, scratch_).Wait();
    EXPECT_EQ(ended.status, 0) << ended.err;
    EXPECT_NE(ended.out.find(says), std::string::npos) << words[0] << ": " << ended.out;
  }
  ExpectOneLine(Program("tools/codec/codec", {"--links", "1"}, scratch_).Wait(), 2, "file");
}

// At 1 bit a second a micro-batch takes three months.
TEST_F(CodecProgram, LinksHaveSpeedsThatEnd) {
  for (const char* speed : {"1e-9", "0", "-1", "nan", "1e7"})
    ExpectOneLine(Run({"--links", speed}), 2, "--links");
}

TEST_F(CodecProgram, DecodingTakesTheCodecOfTheFile) {
  for (const std::vector<std::string>& flag : std::vector<std::vector<std::string>>{
           {"--codec", "f16"}, {"--all"}, {"--picture", scratch_ + "/x"}, {"--encoded", "x"}}) {
    std::vector<std::string> flags{"--decoded", scratch_ + "/y"};
    flags.insert(flags.end(), flag.begin(), flag.end());
    ExpectOneLine(Run(flags), 2, flag[0]);
  }
}

TEST_F(CodecProgram, WhatIsReadIsNotWrittenOver) {
  const std::string file = scratch_ + "/two.safetensors";
  for (const char* flag : {"--encoded", "--decoded", "--picture"})
    ExpectOneLine(Run({flag, file}), 2, "would write over the file that it reads");
  EXPECT_EQ(ReadSafetensors(file).tensors.size(), 1);
}

TEST_F(CodecProgram, NamesTheFlagOrTheFileThatIsWrong) {
  ExpectOneLine(Run({"--codec", "zip"}), 2, "--codec zip: [codec] known codecs are");
  ExpectOneLine(Run({"--codec", "sortq:17"}), 2, "--codec sortq:17: ");
  const std::string damaged = scratch_ + "/damaged";
  std::ofstream(damaged) << "TRCS" << std::string("\1\0\0\0\1\0aTRCF....", 16);
  ExpectOneLine(
      Program("tools/codec/codec", {damaged, "--decoded", scratch_ + "/x"}, scratch_).Wait(), 2,
      damaged);
}

// Before anything is measured.
TEST_F(CodecProgram, AnOutputThatCannotBeWrittenIsFoundFirst) {
  for (const char* flag : {"--encoded", "--picture", "--json"}) {
    const Ended ended = Run({flag, scratch_ + "/none/x"});
    ExpectOneLine(ended, 2, std::string(flag) + " " + scratch_ + "/none/x: there is no folder");
    EXPECT_EQ(ended.out, "");
  }
}

TEST_F(CodecProgram, WritesItsFiguresAsJson) {
  EXPECT_EQ(Run({"--codec", "none", "--repeats", "1", "--json", scratch_ + "/a.json"}).status, 0);
  const nlohmann::json all = Json("a.json");
  EXPECT_EQ(all[0]["codec"], "none");
  EXPECT_EQ(all[0]["bits_per_value"], 32.0);
  EXPECT_FALSE(all[0].contains("signal_to_noise_db")) << "nothing is lost";
}

}  // namespace
}  // namespace torus::tools::testing
