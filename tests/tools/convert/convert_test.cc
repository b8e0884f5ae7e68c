// The program, run as a user runs it.
#include "models/build_model.h"
#include "models/checkpoint/hugging_face.h"
#include "models/checkpoint/state_dict.h"
#include "runtime/io/safetensors.h"
#include "tests/testing/program.h"
#include "tests/tools/convert/same_tensors.h"

namespace torus::tools::testing {
namespace {

namespace fs = std::filesystem;

constexpr const char* kModel = "gpt-char:1";
constexpr int64_t kClasses = 5;
const std::vector<std::string> kFits = {"--model", kModel, "--classes", "5"};

std::vector<NamedTensor> State(const std::string& weights = "") {
  return StateDict(*BuildModel(ParseModelSpec(kModel), kClasses, /*seed=*/1, weights));
}

// While it lives no file can grow beyond that, here and in programs that are started: a disk that
// is full.
class FileSizeLimit {
 public:
  explicit FileSizeLimit(rlim_t bytes) : handler_(std::signal(SIGXFSZ, SIG_IGN)) {
    getrlimit(RLIMIT_FSIZE, &before_);
    const rlimit limit{bytes, before_.rlim_max};
    setrlimit(RLIMIT_FSIZE, &limit);
  }
  ~FileSizeLimit() {
    setrlimit(RLIMIT_FSIZE, &before_);
    std::signal(SIGXFSZ, handler_);
  }

 private:
  void (*const handler_)(int);
  rlimit before_{};
};

TensorMap Read(const std::string& path) { return ByName(ReadSafetensors(path).tensors); }

class ConvertTest : public ProgramTest {
 protected:
  Ended Run(std::vector<std::string> flags, const std::vector<std::string>& more = {}) const {
    flags.insert(flags.end(), more.begin(), more.end());
    return Program("tools/convert/convert", flags, scratch_).Wait();
  }
  std::string Path(const std::string& name) const { return scratch_ + "/" + name; }
};

TEST_F(ConvertTest, EveryNumberHasBounds) {
  for (const std::vector<std::string>& flag :
       std::vector<std::vector<std::string>>{{"--classes", "-3"},
                                             {"--classes", "99999999999"},
                                             {"--shard-bytes", "0"},
                                             {"--shard-bytes", "-1"}})
    ExpectOneLine(Run({"tests/golden/zip.pth", Path("out.safetensors")}, flag), 2, flag[0]);
}

TEST_F(ConvertTest, ListsWhatATorchFileHolds) {
  const Ended listed = Run({"tests/golden/zip.pth"});
  ASSERT_EQ(listed.status, 0) << listed.err;
  for (const char* line : {"best = 91.73\n", "\nstrided   f32   (6, 4) ", "\nf16       f16   (2) ",
                           "\nu8        u8    (2) ", "\n12 tensors, "})
    EXPECT_NE(listed.out.find(line), std::string::npos) << line << " in\n" << listed.out;
}

TEST_F(ConvertTest, TorchFilesBecomeSafetensorsOfTheSameBits) {
  const TensorMap want = Read("tests/golden/torch_files.safetensors");
  const std::string out = Path("out.safetensors");
  for (const char* file : {"tests/golden/zip.pth", "tests/golden/legacy.pth"}) {
    ASSERT_EQ(Run({file, out, "--overwrite"}).status, 0) << file;
    ExpectSame(Read(out), want);
    ASSERT_EQ(Run({file, out, "--dtype", "bf16", "--overwrite"}).status, 0) << file;
    ExpectSame(Read(out), As(DType::kBF16, want));
  }
}

TEST_F(ConvertTest, AFileThatIsReplacedStaysUntilTheNewOneIsWhole) {
  const std::string file = Path("in.safetensors"), link = Path("link.safetensors");
  WriteSafetensors(file, State());
  fs::create_symlink(file, link);
  const std::string before = ReadText(file);
  {
    const FileSizeLimit limit(before.size() / 2);
    ExpectOneLine(Run({file, file, "--overwrite"}), 1, "cannot write: File too large");
  }
  EXPECT_EQ(ReadText(file), before);
  EXPECT_FALSE(fs::exists(file + ".new"));
  ASSERT_EQ(Run({link, link, "--dtype", "bf16", "--overwrite"}).status, 0);
  ExpectSame(Read(file), As(DType::kBF16, ByName(State())));
  EXPECT_TRUE(fs::is_symlink(link));
}

// The file that is read may be the one that is written, by whichever name.
TEST_F(ConvertTest, OntoItsOwnInputItIsReplacedOnlyIfTold) {
  const std::string file = Path("in.safetensors"), twin = Path("twin.safetensors");
  WriteSafetensors(file, State());
  fs::create_hard_link(file, twin);
  const std::string before = ReadText(file);
  for (const std::string& output : {file, twin, Path("data/../in.safetensors")})
    ExpectOneLine(Run({file, output, "--dtype", "bf16"}), 2, "is there already");
  EXPECT_EQ(ReadText(file), before);
  const TensorMap rounded = As(DType::kBF16, ByName(State()));
  ASSERT_EQ(Run({twin, file, "--dtype", "bf16", "--overwrite"}).status, 0);
  ExpectSame(Read(file), rounded);
  EXPECT_EQ(ReadText(twin), before) << "the other name keeps what was read";
  ASSERT_EQ(Run({twin, twin, "--overwrite"}).status, 0);
  ExpectSame(Read(twin), ByName(State()));
  ExpectOneLine(Run({file, file, "--overwrite"}, {"--model", kModel, "--classes", "7"}), 2,
                "does not fit");
  ExpectSame(Read(file), rounded);
}

// Saved without a head, so without "transformer.".
std::vector<NamedTensor> Headless() {
  std::vector<NamedTensor> state = State();
  for (NamedTensor& tensor : state)
    tensor.name = tensor.name.substr(std::string("transformer.").size());
  return state;
}

TEST_F(ConvertTest, NamesAreMappedToTheModelAndThenCast) {
  const std::string in = Path("in.safetensors"), out = Path("out.safetensors");
  WriteSafetensors(in, Headless());
  const Ended mapped = Run({in, out, "--dtype", "bf16"}, kFits);
  ASSERT_EQ(mapped.status, 0) << mapped.err;
  EXPECT_NE(mapped.out.find("wte.weight -> transformer.wte.weight\n"), std::string::npos)
      << mapped.out;
  const TensorMap rounded = As(DType::kBF16, ByName(State()));
  ExpectSame(Read(out), rounded);
  ExpectSame(ByName(State(out)), As(DType::kF32, rounded));  // and the model loads it
}

TEST_F(ConvertTest, WithoutDtypeEveryBitStaysAlsoBesideAModel) {
  std::vector<NamedTensor> state = State();
  for (NamedTensor& tensor : state) tensor.value = Full(tensor.value.shape(), 1.0 / 3, DType::kF64);
  const std::string in = Path("in.safetensors"), out = Path("out.safetensors");
  WriteSafetensors(in, state);
  ASSERT_EQ(Run({in, out}, kFits).status, 0);
  ExpectSame(Read(out), ByName(state));
}

TEST_F(ConvertTest, SaysHowManyValuesBecomeInfinite) {
  const std::string in = Path("in.safetensors"), out = Path("out.safetensors");
  WriteSafetensors(in, {{"a", FromVector<float>({1, -INFINITY, 65504}, {3})},
                        {"b", FromVector<float>({1e5f, 2, -1e6f, NAN}, {4})},
                        {"c", FromVector<float>({65520}, {1})},
                        {"d", FromVector<int64_t>({100000}, {1})}});
  const Ended cast = Run({in, out, "--dtype", "f16"});
  EXPECT_EQ(cast.status, 0);
  EXPECT_EQ(cast.err,
            "convert: warning: 3 values beyond the largest of f16 became infinite, in 2 tensors; "
            "the first is b\n");
  EXPECT_EQ(Run({in, out, "--dtype", "bf16", "--overwrite"}).err, "");
  EXPECT_EQ(Run({in}).err, "");
}

TEST_F(ConvertTest, AFolderIsCastAndKeepsItsTokenizer) {
  const std::map<std::string, std::string> files = {{"tokenizer.json", "{\"version\": \"1.0\"}\n"},
                                                    {"merges.txt", "#version: 0.2\n"}};
  WriteHuggingFace(Path("in"), {.config = TransformersConfigOf(ParseModelSpec(kModel), kClasses),
                                .tensors = State(),
                                .files = files});
  std::ofstream(Path("in/pytorch_model.bin")) << "the same weights once more";
  const Ended cast =
      Run({Path("in"), Path("out"), "--dtype", "bf16", "--shard-bytes", "100000"}, kFits);
  ASSERT_EQ(cast.status, 0) << cast.err;
  for (const auto& [name, content] : files) EXPECT_EQ(ReadText(Path("out/" + name)), content);
  EXPECT_FALSE(fs::exists(Path("out/pytorch_model.bin")));
  EXPECT_TRUE(fs::exists(Path("out/model.safetensors.index.json")));
  const HuggingFaceFolder out = ReadHuggingFace(Path("out"));
  EXPECT_EQ(out.config.at("torch_dtype"), "bfloat16");
  EXPECT_EQ(out.config.at("vocab_size"), kClasses);
  const TensorMap rounded = As(DType::kBF16, ByName(State()));
  ExpectSame(ByName(out.tensors), rounded);
  ExpectSame(ByName(State(Path("out"))), As(DType::kF32, rounded));
}

TEST_F(ConvertTest, AFolderThatHoldsSomethingIsLeftAsItIs) {
  WriteHuggingFace(Path("in"), {TransformersConfigOf(ParseModelSpec(kModel), kClasses), State()});
  fs::create_directories(Path("in/notes"));
  std::ofstream(Path("in/notes/README.md")) << "mine";
  const std::string weights = ReadText(Path("in/model.safetensors"));
  ExpectOneLine(Run({Path("in"), Path("in"), "--dtype", "bf16"}), 2,
                "the output must be a new or empty folder, got " + Path("in"));
  EXPECT_EQ(ReadText(Path("in/notes/README.md")), "mine");
  EXPECT_TRUE(ReadText(Path("in/model.safetensors")) == weights);
  std::ofstream(Path("file")) << "mine";
  ExpectOneLine(Run({Path("in"), Path("file")}), 2, "which is a file");
  EXPECT_EQ(ReadText(Path("file")), "mine");
  fs::create_directories(Path("empty"));
  EXPECT_EQ(Run({Path("in"), Path("empty")}).status, 0);
  EXPECT_TRUE(fs::exists(Path("empty/model.safetensors")));
}

TEST_F(ConvertTest, WhatDoesNotFitIsListedOnceAndNothingIsWritten) {
  std::vector<NamedTensor> state = State();
  std::erase_if(state, [](const NamedTensor& t) { return t.name == "transformer.ln_f.weight"; });
  for (NamedTensor& tensor : state) {
    if (tensor.name == "transformer.wpe.weight") tensor.value = Zeros({3}, DType::kF16);
  }
  state.push_back({"transformer.extra", Zeros({2})});
  const std::string in = Path("in.safetensors"), out = Path("out.safetensors");
  WriteSafetensors(in, state);
  ExpectOneLine(Run({in, out, "--dtype", "bf16"}, kFits), 2,
                "does not fit the model in 3 tensors: "
                "transformer.wpe.weight is f16 (3) and must be f32 (64, 128); "
                "transformer.ln_f.weight is missing; transformer.extra is surplus\n");
  EXPECT_FALSE(fs::exists(out));
}

// The mapping helps to see why the rest does not fit.
TEST_F(ConvertTest, NamesAreListedAlsoWhereTheRestDoesNotFit) {
  std::vector<NamedTensor> state = Headless();
  std::erase_if(state, [](const NamedTensor& t) { return t.name == "wpe.weight"; });
  const std::string in = Path("in.safetensors");
  WriteSafetensors(in, state);
  const Ended refused = Run({in}, kFits);
  EXPECT_EQ(refused.status, 2);
  EXPECT_NE(refused.out.find("wte.weight -> transformer.wte.weight\n"), std::string::npos)
      << refused.out;
  EXPECT_NE(refused.err.find("transformer.wpe.weight is missing"), std::string::npos)
      << refused.err;
}

TEST_F(ConvertTest, SaysWhatItTakesAndWhatItLeaves) {
  const std::string in = Path("in.safetensors"), out = Path("out.safetensors");
  std::vector<NamedTensor> state, averaged;
  for (const NamedTensor& tensor : State()) {
    state.push_back({"model.module." + tensor.name, tensor.value});
    averaged.push_back({"model_ema." + tensor.name, Zeros(tensor.value.shape())});
  }
  std::ranges::copy(averaged, std::back_inserter(state));
  WriteSafetensors(in, state);
  const Ended plain = Run({in, out}, kFits);
  ASSERT_EQ(plain.status, 0) << plain.err;
  EXPECT_NE(plain.out.find(in + ": takes model, 9 tensors; leaves model_ema (9 tensors)\n"),
            std::string::npos)
      << plain.out;
  EXPECT_NE(plain.out.find("model.module.transformer.wte.weight -> transformer.wte.weight\n"),
            std::string::npos);
  ExpectSame(Read(out), ByName(State()));
  ASSERT_EQ(Run({in, out, "--init-part", "model_ema", "--overwrite"}, kFits).status, 0);
  for (const auto& [name, value] : Read(out)) EXPECT_EQ(ToVector<float>(value)[0], 0) << name;
  ASSERT_EQ(Run({in, out, "--init-part", "model_ema", "--overwrite"}).status, 0);
  EXPECT_EQ(Read(out).size(), 9U);
  ExpectOneLine(Run({in, out, "--init-part", "ema", "--overwrite"}), 2,
                "has no tensors under --init-part ema; it has model (9 tensors), model_ema (9 "
                "tensors)");
}

TEST_F(ConvertTest, KeepsTypesThatTensorsHaveNot) {
  const std::string out = Path("out.safetensors");
  for (const char* file : {"narrow.pth", "narrow.safetensors"}) {
    const Ended kept = Run({std::string("tests/golden/checkpoints/") + file, out, "--overwrite"});
    ASSERT_EQ(kept.status, 0) << kept.err;
    for (const char* line :
         {"conv.weight            f8_e4m3 (4, 3, 3, 3) ", "bn.bias                i8 "})
      EXPECT_NE(kept.out.find(line), std::string::npos) << line << " in\n" << kept.out;
    const SafetensorsFile want = ReadSafetensors("tests/golden/checkpoints/narrow.safetensors");
    EXPECT_EQ(ReadSafetensors(out).narrow, want.narrow);
    ExpectSame(Read(out), ByName(want.tensors));
  }
  ASSERT_EQ(
      Run({"tests/golden/checkpoints/narrow.pth", out, "--dtype", "f32", "--overwrite"}).status, 0);
  EXPECT_EQ(ReadSafetensors(out).narrow.count("conv.weight"), 0U);
  EXPECT_EQ(ReadSafetensors(out).narrow.count("bn.bias"), 1U);
}

TEST_F(ConvertTest, SaysWhatIsLacking) {
  const std::string in = Path("in.safetensors");
  WriteSafetensors(in, State());
  ExpectOneLine(Run({in, "--model", kModel}), 2, "--model gpt-char:1 needs --classes");
  ExpectOneLine(Run({in, "--classes", "5"}), 2, "--classes needs --model");
  ExpectOneLine(Run({in, "--model", "gpt5", "--classes", "5"}), 2, "got gpt5");
  ExpectOneLine(Run({in, Path("folder")}), 2,
                "the output of a file must end in .safetensors, got ");
  ExpectOneLine(Run({in, Path("out.pth")}), 2,
                "the output of a file must end in .safetensors, got " + Path("out.pth"));
  ExpectOneLine(Run({Path("nowhere.pth")}), 2, "nowhere.pth");
  EXPECT_NE(Run({in, "--dtype", "i64"}).err.find("--dtype"), std::string::npos);
}

TEST_F(ConvertTest, NothingIsReplacedUnasked) {
  const std::string in = Path("in.safetensors"), out = Path("out.safetensors");
  WriteSafetensors(in, State());
  std::ofstream(out) << "mine";
  ExpectOneLine(Run({in, out}), 2, out + " is there already: give another output, or --overwrite");
  EXPECT_EQ(ReadText(out), "mine");
  const Ended ended = Run({in, out, "--overwrite"});
  EXPECT_EQ(ended.status, 0) << ended.err;
  EXPECT_NE(ended.out.find("wrote " + out), std::string::npos) << ended.out;
  EXPECT_NE(ReadText(out), "mine");
}

}  // namespace
}  // namespace torus::tools::testing
