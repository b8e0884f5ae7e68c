// The program, run as a user runs it: flags that would be ignored are refused.
#include "tests/tools/train/program.h"

#include "runtime/io/safetensors.h"
#include "runtime/tensor.h"

namespace torus::tools::testing {
namespace {

class CodecProgram : public ProgramTest {
 protected:
  Ended Run(std::vector<std::string> flags) const {
    const std::string file = scratch_ + "/two.safetensors";
    WriteSafetensors(file, {{"two", FromVector<float>({1, 2}, {2})}});
    flags.insert(flags.begin(), file);
    return Program("tools/codec/codec", flags, scratch_).Wait();
  }
};

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
