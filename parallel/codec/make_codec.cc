#include "parallel/codec/make_codec.h"

#include <algorithm>
#include <functional>
#include <utility>
#include <vector>

#include "parallel/codec/chain_codec.h"
#include "parallel/codec/codec_text.h"
#include "parallel/codec/dynamic8.h"
#include "parallel/codec/error_feedback.h"
#include "parallel/codec/grain.h"
#include "parallel/codec/hadamard.h"
#include "parallel/codec/kmeans.h"
#include "parallel/codec/low_rank.h"
#include "parallel/codec/prune.h"
#include "parallel/codec/raw_codec.h"
#include "parallel/codec/sample_delta.h"
#include "parallel/codec/small_floats.h"
#include "parallel/codec/sort_quantization.h"
#include "parallel/codec/sortq_text.h"
#include "parallel/codec/uniform.h"
#include "runtime/error.h"

namespace torus::parallel {
namespace {

using CodecPtr = std::unique_ptr<Codec>;
using TransformPtr = std::unique_ptr<Transform>;

// An entry of the list: a codec, a transform, or a codec around another.
struct Entry {
  std::string name, written, about;
  std::vector<std::string> examples;
  std::function<CodecPtr(const CodecPart&)> codec = nullptr;
  std::function<TransformPtr(const CodecPart&)> transform = nullptr;
  std::function<CodecPtr(CodecPtr)> around = nullptr;
};

template <class T, auto... kArguments>
CodecPtr Plain(const CodecPart& part) {
  part.AtMost(0);
  return std::make_unique<T>(kArguments...);
}

CodecPtr MakeUniform(const CodecPart& part) {
  part.AtMost(2);
  const bool stochastic = part.arguments.size() == 2;
  Require(!stochastic || part.arguments[1] == "stochastic", "uniform",
          "takes 'stochastic' behind the bits, got '{}'", part.arguments.back());
  return std::make_unique<Uniform>(static_cast<int>(part.Whole(0, "bits a value", 1, 16)),
                                   stochastic);
}

CodecPtr MakeF8(const CodecPart& part) {
  part.AtMost(1);
  const std::string format = part.arguments.empty() ? "" : part.arguments[0];
  Require(format == "e4m3" || format == "e5m2", "f8", "takes e4m3 or e5m2, got '{}'", format);
  return std::make_unique<SmallFloats>(format == "e4m3" ? SmallFloat::kE4M3 : SmallFloat::kE5M2);
}

CodecPtr MakeDynamic8(const CodecPart& part) {
  part.AtMost(1);
  if (part.arguments.empty()) return std::make_unique<Dynamic8>();
  return std::make_unique<Dynamic8>(part.Whole(0, "values a block", 1, 1 << 20));
}

CodecPtr MakeKMeans(const CodecPart& part) {
  part.AtMost(1);
  return std::make_unique<KMeans>(static_cast<int>(part.Whole(0, "bits a value", 1, 8)));
}

template <Prune::Choice kChoice>
TransformPtr MakePrune(const CodecPart& part) {
  part.AtMost(1);
  return std::make_unique<Prune>(kChoice, part.Share(0, "a share"));
}

template <LowRank::Method kMethod>
TransformPtr MakeLowRank(const CodecPart& part) {
  part.AtMost(1);
  return std::make_unique<LowRank>(kMethod, part.Whole(0, "a rank", 1, 64));
}

TransformPtr MakeHadamard(const CodecPart& part) {
  part.AtMost(0);
  return std::make_unique<Hadamard>();
}

template <class T>
CodecPtr MakeAround(CodecPtr inner) {
  return std::make_unique<T>(std::move(inner));
}

const std::vector<Entry>& Entries() {
  static const auto* entries = new std::vector<Entry>{
      {"none", "none", "uncompressed float32", {"none"}, Plain<RawCodec>},
      {"sortq",
       "sortq:BITS, sortq:QqSs",
       "sort quantization to 1 to 16 bits per value, of which a quarter number the bucket; or q "
       "bits for the level within a bucket and s for the bucket",
       {"sortq:16", "sortq:12", "sortq:8", "sortq:4", "sortq:Q5S3"},
       MakeSortQuantization},
      {"uniform",
       "uniform:BITS[:stochastic]",
       "uniform quantization between the smallest and the largest value, 1 to 16 bits per value, "
       "rounded to nearest or stochastically",
       {"uniform:8", "uniform:4", "uniform:4:stochastic"},
       MakeUniform},
      {"f16", "f16", "half precision", {"f16"}, Plain<SmallFloats, SmallFloat::kF16>},
      {"bf16", "bf16", "bfloat16", {"bf16"}, Plain<SmallFloats, SmallFloat::kBF16>},
      {"f8",
       "f8:e4m3, f8:e5m2",
       "8-bit floating point with one scale per tensor",
       {"f8:e4m3", "f8:e5m2"},
       MakeF8},
      {"dynamic8",
       "dynamic8[:BLOCK]",
       "block-wise dynamic quantization to 8 bits, by default in blocks of 2048 values",
       {"dynamic8"},
       MakeDynamic8},
      {"kmeans",
       "kmeans:BITS",
       "K-means quantization to the nearest of 2^BITS centres, 1 to 8 bits per value",
       {"kmeans:4"},
       MakeKMeans},
      {.name = "topk",
       .written = "topk:SHARE[+CODEC]",
       .about = "magnitude pruning: only the given share of values, those of largest magnitude; "
                "the others are 0",
       .examples = {"topk:0.1", "topk:0.1+sortq:8"},
       .transform = MakePrune<Prune::Choice::kGreatest>},
      {.name = "randk",
       .written = "randk:SHARE[+CODEC]",
       .about =
           "random pruning: only the given share of values, chosen at random; the others are 0",
       .examples = {"randk:0.1"},
       .transform = MakePrune<Prune::Choice::kRandom>},
      {.name = "svd",
       .written = "svd:RANK[+CODEC]",
       .about = "low-rank factors of the best approximation, rank 1 to 64",
       .examples = {"svd:8"},
       .transform = MakeLowRank<LowRank::Method::kSvd>},
      {.name = "powersgd",
       .written = "powersgd:RANK[+CODEC]",
       .about = "low-rank factors by one power iteration that starts from the previous step's "
                "factors (PowerSGD), rank 1 to 64",
       .examples = {"powersgd:2"},
       .transform = MakeLowRank<LowRank::Method::kPowerSgd>},
      {.name = "hadamard",
       .written = "hadamard+CODEC",
       .about = "Hadamard rotation of blocks of 1024 values before another codec, which spreads "
                "outliers",
       .examples = {"hadamard+uniform:4"},
       .transform = MakeHadamard},
      {.name = "ef",
       .written = "ef(CODEC)",
       .about = "error feedback: the error of a tensor is added to the next tensor before encoding",
       .examples = {"ef(topk:0.1)"},
       .around = MakeAround<ErrorFeedback>},
      {.name = "delta",
       .written = "delta(CODEC)",
       .about = "the change since the same sample was last sent; its first visit is sent "
                "uncompressed (AQ-SGD)",
       .examples = {"delta(uniform:4)"},
       .around = MakeAround<SampleDelta>},
  };
  return *entries;
}

[[noreturn]] void ThrowUnknown(const std::string& text) {
  std::vector<std::string> known;
  for (const Entry& entry : Entries()) known.push_back(entry.written);
  Throw<BadInput>("codec", "known codecs are {}; got '{}'", fmt::join(known, ", "), text);
}

const Entry& EntryOf(const CodecPart& part, const std::string& text) {
  const auto entry = std::ranges::find(Entries(), part.name, &Entry::name);
  if (entry == Entries().end() || !part.inner.empty() != (entry->around != nullptr))
    ThrowUnknown(text);
  return *entry;
}

// Makes the codec of parts[i] and the parts after it.
CodecPtr MakeFrom(const CodecText& parsed, size_t i, const std::string& text) {
  const CodecPart& part = parsed.parts[i];
  const Entry& entry = EntryOf(part, text);
  const bool last = i + 1 == parsed.parts.size();
  if (entry.transform) {
    CodecPtr rest = last ? std::make_unique<RawCodec>() : MakeFrom(parsed, i + 1, text);
    return std::make_unique<ChainCodec>(entry.transform(part), std::move(rest));
  }
  Require(last, "codec", "{} leaves no values for a codec behind '+', got '{}'", part.name, text);
  return entry.around ? entry.around(MakeCodec(part.inner)) : entry.codec(part);
}

}  // namespace

std::vector<std::string> CodecNames() {
  std::vector<std::string> names;
  for (const Entry& entry : Entries())
    names.insert(names.end(), entry.examples.begin(), entry.examples.end());
  return names;
}

std::vector<std::pair<std::string, std::string>> CodecDescriptions() {
  std::vector<std::pair<std::string, std::string>> all;
  for (const Entry& entry : Entries()) all.emplace_back(entry.written, entry.about);
  all.emplace_back("CODEC/sample, CODEC/channel, CODEC/chunk:N",
                   "encodes each sample, channel, or chunk of N values separately");
  return all;
}

CodecPtr MakeCodec(const std::string& text) {
  const CodecText parsed = ParseCodec(text);
  CodecPtr codec = MakeFrom(parsed, 0, text);
  if (parsed.grain.empty() || parsed.grain == "tensor") return codec;
  return std::make_unique<GrainCodec>(std::move(codec), Grain::Parse(parsed.grain));
}

}  // namespace torus::parallel
