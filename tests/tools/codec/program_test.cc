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

TEST_F(CodecProgram, LinksNeedACodec) {
  ExpectOneLine(Run({"--links", "1", "--codec", "none"}), 2, "other than none");
}

}  // namespace
}  // namespace torus::tools::testing
