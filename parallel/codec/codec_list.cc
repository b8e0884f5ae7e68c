#include "parallel/codec/codec_list.h"

#include <algorithm>
#include <mutex>
#include <utility>

#include "parallel/codec/dynamic8.h"
#include "parallel/codec/error_feedback.h"
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
using Entries = std::vector<CodecEntry>;

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

std::vector<CodecEntry> BuiltIn() {
  return {
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
}

// A reader keeps the list that it has: an addition makes another.
struct List {
  std::mutex mutex;
  std::shared_ptr<const Entries> entries = std::make_shared<Entries>(BuiltIn());
};

List& TheList() {
  static List* const list = new List;  // for ever: threads may outlive main
  return *list;
}

bool IsName(const std::string& name) {
  const auto letter = [](char c) { return c >= 'a' && c <= 'z'; };
  return !name.empty() && letter(name[0]) && std::ranges::all_of(name, [&](char c) {
    return letter(c) || (c >= '0' && c <= '9') || c == '_';
  });
}

void Check(const CodecEntry& entry) {
  Require(IsName(entry.name), "codec",
          "a name is made of small letters, digits and '_' behind a letter, got '{}'", entry.name);
  Require(!entry.examples.empty(), "codec", "{} needs an example of its text", entry.name);
  const int set = (entry.codec ? 1 : 0) + (entry.transform ? 1 : 0) + (entry.around ? 1 : 0);
  Require(set == 1, "codec", "{} needs one of codec, transform and around, got {} of them",
          entry.name, set);
}

}  // namespace

void RegisterCodec(CodecEntry entry) {
  Check(entry);
  List& list = TheList();
  const std::lock_guard lock(list.mutex);
  Require(std::ranges::find(*list.entries, entry.name, &CodecEntry::name) == list.entries->end(),
          "codec", "there is a codec {} already", entry.name);
  auto more = std::make_shared<Entries>(*list.entries);
  more->push_back(std::move(entry));
  list.entries = std::move(more);
}

std::shared_ptr<const Entries> ListedCodecs() {
  List& list = TheList();
  const std::lock_guard lock(list.mutex);
  return list.entries;
}

}  // namespace torus::parallel
