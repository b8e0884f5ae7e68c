#include "tools/codec/codec.h"

#include <fmt/ranges.h>

#include <CLI/CLI.hpp>
#include <cstdlib>
#include <filesystem>
#include <nlohmann/json.hpp>
#include <span>

#include "models/checkpoint/load_weights.h"
#include "parallel/codec/make_codec.h"
#include "runtime/error.h"
#include "runtime/io/file.h"
#include "runtime/io/safetensors.h"
#include "tools/codec/codec_table.h"
#include "tools/codec/encoded_file.h"
#include "tools/codec/error_picture.h"
#include "tools/codec/figures_json.h"
#include "tools/codec/link_trial.h"
#include "tools/codec/measure.h"
#include "tools/common/check_flags.h"
#include "tools/common/help_text.h"
#include "tools/common/output.h"
#include "tools/common/parse_flags.h"
#include "tools/common/run_main.h"
#include "tools/common/user_path.h"

namespace torus::tools {
namespace {

struct Options {
  std::string input, codec = "sortq:8", encoded, decoded, picture, json;
  bool all = false;
  int repeats = 5;
  std::vector<double> links;  // Gbit/s
};

// Calls `make`, and says of what it refuses which flag or file it is about.
template <class Make>
auto Named(const std::string& what, const Make& make) {
  try {
    return make();
  } catch (const BadInput& error) {
    const std::string reason = error.what();
    if (reason.find(what) != reason.npos) throw;
    Throw<BadInput>("codec", "{}: {}", what, reason);
  }
}

std::vector<NamedTensor> FloatsOf(const std::string& path) {
  std::vector<NamedTensor> floats;
  FileWeights file = ReadWeights(path);
  for (NamedTensor& tensor : file.tensors) {
    const DType dtype = tensor.value.dtype();
    if (dtype == DType::kF32 || IsLow(dtype))
      floats.push_back(std::move(tensor));
    else
      fmt::print("left out: {}, {}\n", tensor.name, tensor.value);
  }
  Require(!floats.empty(), path, "has no tensor of f32, bf16 or f16");
  return floats;
}

// The codecs that keep no state of earlier tensors, and one of them part by part.
std::vector<std::string> AllCodecs() {
  std::vector<std::string> names;
  for (const std::string& name : parallel::CodecNames())
    if (!parallel::MakeCodec(name)->is_stateful() || name.starts_with("powersgd"))
      names.push_back(name);
  names.insert(names.end(), {"uniform:4/sample", "uniform:4/channel", "uniform:4/chunk:1024"});
  return names;
}

// A file's tensors have no earlier tensors, which a codec that remembers them would need.
// powersgd starts from random factors, and is measured with those.
void CheckCodec(const std::string& codec) {
  const auto made = Named("--codec " + codec, [&] { return parallel::MakeCodec(codec); });
  Require(!made->is_stateful() || codec.starts_with("powersgd"), "codec",
          "--codec {} remembers earlier tensors of a run, and a file has none: measure the codec "
          "inside of the brackets",
          made->name());
}

std::vector<std::string> ChosenCodecs(const Options& options) {
  return options.all ? AllCodecs() : std::vector<std::string>{options.codec};
}

void TryOverLinks(const Options& options, const std::vector<NamedTensor>& tensors) {
  Require(options.all || options.codec != "none", "codec",
          "--links sends encoded values beside float32, so it needs a --codec other than none");
  const Tensor micro_batch = TrialMicroBatch(tensors);
  std::vector<double> speeds;
  for (const double gigabits : options.links) speeds.push_back(1e9 * gigabits);
  std::vector<LinkTrial> trials;
  for (const std::string& name : ChosenCodecs(options)) {
    if (name == "none") continue;
    const std::vector<LinkTrial> own = TryLinks(name, micro_batch, speeds, options.repeats);
    trials.insert(trials.end(), own.begin(), own.end());
  }
  fmt::print("{}", TextOf(trials));
  if (!options.json.empty()) WriteOutput(options.json, ToJson(trials).dump(2) + "\n");
}

void Measure(const Options& options, const std::vector<NamedTensor>& tensors) {
  std::vector<CodecMeasurement> measured;
  for (const std::string& name : ChosenCodecs(options))
    measured.push_back(MeasureCodec(name, tensors, options.repeats));
  fmt::print("{}", TableOf(measured));
  if (!options.json.empty()) WriteOutput(options.json, ToJson(measured).dump(2) + "\n");
  if (!options.picture.empty()) WriteOutput(options.picture, ErrorPicture(measured));
}

void WriteEncoded(const Options& options, const std::vector<NamedTensor>& tensors) {
  std::vector<std::string> as_it_is;
  const std::vector<std::byte> bytes = EncodeTensors(options.codec, tensors, as_it_is);
  WriteOutput(options.encoded, {reinterpret_cast<const char*>(bytes.data()), bytes.size()});
  for (const std::string& name : as_it_is)
    fmt::print("stored as float32, for a value that is infinite or NaN: {}\n", name);
}

void WriteDecoded(const Options& options) {
  constexpr int64_t kMostValues = int64_t{1} << 32;
  const std::string content = io::InputFile(options.input).ReadAll();
  WriteSafetensors(options.decoded, Named("[" + options.input + "]", [&] {
                     return DecodeTensors(options.input, std::as_bytes(std::span(content)),
                                          kMostValues);
                   }));
  fmt::print("wrote {}\n", FullPath(options.decoded));
}

void AddFlags(CLI::App& app, Options& options) {
  app.add_option(
         "file", options.input,
         "A file of tensors (.safetensors, or one of torch.save), a Hugging Face folder, or "
         "a run's checkpoint; for --decoded, a file written by --encoded")
      ->required();
  app.add_option("--codec", options.codec, Choices("Codec", parallel::CodecDescriptions()));
  app.add_flag("--all", options.all, "Measure every codec with typical parameters");
  app.add_option("--picture", options.picture,
                 "Draw error against bytes into this SVG file. Default: none; with --all "
                 "codec_errors.svg");
  app.add_option("--encoded", options.encoded,
                 "Write the encoded tensors to this file. Default: none");
  app.add_option("--decoded", options.decoded,
                 "Write the decoded tensors of an encoded file to this file, and do nothing else. "
                 "Default: measure");
  app.add_option("--links", options.links,
                 "Send 16 micro-batches of the file's values over emulated links with these "
                 "Gbit/s, as float32 and encoded, and print the measured beside the computed "
                 "times. Without values: 0.1 1 10. Default: no links")
      ->delimiter(',')
      ->allow_extra_args(false)
      ->check(CLI::Range(1e-3, 1e6));
  app.add_option("--repeats", options.repeats, "Number of runs; the fastest one is reported")
      ->check(CLI::Range(1, 1000));
  app.add_option("--json", options.json, "Write the figures to this file too. Default: none");
}

void CheckOutputs(const Options& options) {
  const std::pair<const char*, const std::string&> outputs[] = {{"--encoded", options.encoded},
                                                                {"--decoded", options.decoded},
                                                                {"--picture", options.picture},
                                                                {"--json", options.json}};
  for (const auto& [flag, output] : outputs) {
    std::error_code error;
    Require(output.empty() || !std::filesystem::equivalent(options.input, output, error), "codec",
            "{} would write over the file that it reads, {}", flag, output);
    CheckOutput("codec", flag, output);
  }
}

void MakeAbsolute(Options& options) {
  for (std::string* path :
       {&options.input, &options.encoded, &options.decoded, &options.picture, &options.json})
    *path = UserPath(*path);
}

std::vector<HereOrNot> ContextsOf(const Options& options, bool links) {
  return {{"encode", options.decoded.empty(), "whose file names its codec"},
          {"one-codec", !options.all || !options.encoded.empty(), "give one of them"},
          {"files", !links, "which measures alone"}};
}

// "0.1" or "0.1,1,10".
bool IsNumbers(const std::string& word) {
  char* end = nullptr;
  std::strtod(word.c_str(), &end);
  return end != word.c_str() && (*end == ',' || *end == 0);
}

// The words of the command line, with --links=0.1,1,10 for --links and the numbers behind it, or
// the usual ones if there are none. So it takes no file for a link, wherever it stands.
std::vector<std::string> WithLinks(std::span<const char* const> words) {
  std::vector<std::string> all;
  for (size_t i = 0; i < words.size();) {
    all.emplace_back(words[i++]);
    if (all.back() != "--links") continue;
    std::vector<std::string> values;
    while (i < words.size() && IsNumbers(words[i])) values.emplace_back(words[i++]);
    all.back() +=
        fmt::format("={}", values.empty() ? "0.1,1,10" : fmt::format("{}", fmt::join(values, ",")));
  }
  return all;
}

int Main(int argc, const char* const* argv) {
  CLI::App app(
      "Encodes and decodes the tensors of a file with a codec, and measures size, error and speed.",
      "codec");
  Options options;
  AddFlags(app, options);
  const std::vector<std::string> words = WithLinks({argv, static_cast<size_t>(argc)});
  std::vector<const char*> taken;
  for (const std::string& word : words) taken.push_back(word.c_str());
  if (PrintsHelp(app, static_cast<int>(taken.size()), taken.data())) return 0;
  const bool links = app.count("--links") > 0;
  CheckFlags("codec", GivenBy(app), ContextsOf(options, links));
  if (options.all && !links && options.picture.empty()) options.picture = "codec_errors.svg";
  MakeAbsolute(options);
  CheckOutputs(options);
  if (!options.decoded.empty()) {
    WriteDecoded(options);
    return 0;
  }
  CheckCodec(options.codec);
  const std::vector<NamedTensor> tensors = FloatsOf(options.input);
  if (links) {
    TryOverLinks(options, tensors);
    return 0;
  }
  Measure(options, tensors);
  if (!options.encoded.empty()) WriteEncoded(options, tensors);
  return 0;
}

}  // namespace

int CodecMain(int argc, const char* const* argv) {
  return RunMain("codec", [&] { return Main(argc, argv); });
}

}  // namespace torus::tools
