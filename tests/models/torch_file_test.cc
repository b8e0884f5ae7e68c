#include "models/checkpoint/torch_file.h"

#include <gtest/gtest.h>

#include <filesystem>
#include <fstream>
#include <map>

#include "models/checkpoint/pickle.h"
#include "models/checkpoint/pickle_walk.h"
#include "runtime/error.h"
#include "runtime/io/safetensors.h"
#include "tests/testing/error_of.h"
#include "tests/testing/same_bits.h"

namespace torus {
namespace {

namespace fs = std::filesystem;
using namespace std::string_literals;

std::string ReadAll(const std::string& path) {
  std::ifstream in(path, std::ios::binary);
  return {std::istreambuf_iterator<char>(in), {}};
}

std::map<std::string, Tensor> Wanted(const std::string& path) {
  std::map<std::string, Tensor> wanted;
  for (const NamedTensor& t : ReadSafetensors(path).tensors) wanted[t.name] = t.value;
  return wanted;
}

class TorchFiles : public ::testing::TestWithParam<const char*> {};

TEST_P(TorchFiles, HaveTheTensorsThatTorchSaved) {
  const TorchFile file = ReadTorchFile("tests/golden/"s + GetParam());
  const auto wanted = Wanted("tests/golden/torch_files.safetensors");
  EXPECT_EQ(file.tensors.size(), wanted.size());
  for (const NamedTensor& tensor : file.tensors)
    testing::ExpectSameBits(tensor.value,
                            wanted.at(tensor.name.substr(std::string("state_dict.").size())),
                            tensor.name);
  EXPECT_EQ(file.inner, "state_dict");
  EXPECT_EQ(file.others,
            (std::vector<std::string>{"epoch = 3", "best = 91.73", "name = \"small\""}));
}

// Whatever a byte becomes, or wherever the file ends: an error that names the file, or tensors.
TEST_P(TorchFiles, DamageIsAnErrorAndNothingElse) {
  const std::string whole = ReadAll("tests/golden/"s + GetParam());
  int refused = 0;
  auto read = [&](const std::string& bytes) {
    try {
      ReadTorchBytes(bytes, "damaged.pth");
    } catch (const BadInput& error) {
      EXPECT_NE(std::string(error.what()).find("damaged.pth"), std::string::npos);
      ++refused;
    }
  };
  for (size_t i = 0; i < whole.size(); i += 7) {
    read(whole.substr(0, i));
    for (const char flip : {'\x01', '\x80', '\xff'}) {
      std::string bytes = whole;
      bytes[i] = static_cast<char>(bytes[i] ^ flip);
      read(bytes);
    }
  }
  EXPECT_GT(refused, static_cast<int>(whole.size() / 7));  // every shortened one at least
}

INSTANTIATE_TEST_SUITE_P(Forms, TorchFiles, ::testing::Values("zip.pth", "legacy.pth"),
                         [](const auto& info) { return info.index == 0 ? "Zip" : "Legacy"; });

std::string ErrorOf(const std::string& pickle) {
  return testing::ErrorOf([&] { pickle::Read(pickle, "file"); });
}

// What a call would return becomes a value that says what would have been called.
TEST(Pickle, CallsNothing) {
  for (const std::string& program :
       {"\x80\x02"
        "cposix\nsystem\nX\x02\0\0\0ls\x85R."s,
        "\x80\x04\x8c\x05"
        "posix\x8c\x06"
        "system\x93\x8c\x02ls\x85\x81."s,
        "\x80\x02(X\x02\0\0\0lsiposix\nsystem\n."s, "\x80\x02(cposix\nsystem\nX\x02\0\0\0lso."s}) {
    const pickle::Document document = pickle::Read(program, "file");
    EXPECT_EQ(document.root->kind, pickle::Kind::kObject);
    EXPECT_EQ(pickle::Text(*document.root), "posix.system(\"ls\")");
  }
}

// A class beside its source, as torch.save wrote for models that were saved whole.
TEST(Pickle, AClassBesideItsSourceIsTheClass) {
  const pickle::Document document = pickle::Read(
      "\x80\x02(X\x06\0\0\0modulecnet\nNet\nX\x01\0\0\0fX\x01\0\0\0stQ)\x81}X\x01\0\0\0aK\x05sb."s,
      "file");
  EXPECT_EQ(pickle::Text(*document.root), "net.Net()");
  ASSERT_NE(pickle::Find(*document.root, "a"), nullptr);
  EXPECT_EQ(pickle::Find(*document.root, "a")->integer, 5);
}

TEST(Pickle, RefusesProgramsThatEndWrongly) {
  for (const char* program :
       {"", "N", "NN.", ".", "(", "t.", "0.", "a.", "}(NNNu.", "]NNs.", "h\x05.",
        "X\x7f\x7f\x7f\x7f"
        "a.",
        "\x8b\xff\xff\xff\x7f.", "NQ.", "NR.", "Nb.", "\x80\x09N."})
    EXPECT_NE(ErrorOf(program), "no error") << program;
}

TEST(Pickle, AListInItselfIsRead) {
  EXPECT_EQ(ErrorOf("]q\x01h\x01"
                    "a."s),
            "no error");
}

TEST(TorchFile, SaysOfAnotherKindOfFileWhatIsWanted) {
  const std::string path = ::testing::TempDir() + "/words.bin";
  for (const std::string text : {"some words\n", ""}) {
    std::ofstream(path) << text;
    try {
      ReadTorchFile(path);
      FAIL() << "was read";
    } catch (const BadInput& error) {
      EXPECT_EQ(error.what(), fmt::format("[{}] must be a file of torch.save, or have a name that "
                                          "ends in .safetensors; got {} bytes of another kind",
                                          path, text.size()));
    }
  }
}

// The weights as they were published, and the same in safetensors.
TEST(TorchFile, PublishedWeightsAreThoseOfTheSafetensors) {
  const char* data = std::getenv("TORUS_DATA");
  const fs::path folder = fs::path(data == nullptr ? "" : data) / "weights/resnet_cifar10";
  if (data == nullptr || !fs::exists(folder)) GTEST_SKIP() << "TORUS_DATA has no resnet_cifar10";
  const auto wanted = Wanted((folder / "resnet20-12fca82f.safetensors").string());
  const TorchFile file = ReadTorchFile((folder / "resnet20-12fca82f.th").string());
  size_t found = 0;
  for (const NamedTensor& tensor : file.tensors) {
    const std::string prefix = file.inner + ".module.";
    ASSERT_TRUE(tensor.name.starts_with(prefix)) << tensor.name;
    const auto want = wanted.find(tensor.name.substr(prefix.size()));
    if (want == wanted.end()) continue;
    testing::ExpectSameBits(tensor.value, want->second, tensor.name);
    ++found;
  }
  EXPECT_EQ(found, wanted.size());
}

}  // namespace
}  // namespace torus
