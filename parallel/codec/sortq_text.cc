#include "parallel/codec/sortq_text.h"

#include "parallel/codec/sort_quantization.h"
#include "runtime/error.h"

namespace torus::parallel {
namespace {

// "Q6S2" as the two numbers.
SortqFormat ReadSplit(const std::string& text) {
  const size_t cut = text.find('S');
  Require(cut != std::string::npos, "sortq", "takes bits a value or QqSs, got '{}'", text);
  const CodecPart numbers{"sortq", {text.substr(1, cut - 1), text.substr(cut + 1)}, ""};
  const int step = static_cast<int>(numbers.Whole(0, "Q", 1, 16));
  const int bucket = static_cast<int>(numbers.Whole(1, "S", 0, SortqFormat::kMaxBucketBits));
  return {step + bucket, bucket};
}

}  // namespace

std::unique_ptr<Codec> MakeSortQuantization(const CodecPart& part) {
  part.AtMost(1);
  if (!part.arguments.empty() && part.arguments[0].starts_with('Q'))
    return std::make_unique<SortQuantization>(ReadSplit(part.arguments[0]));
  return std::make_unique<SortQuantization>(static_cast<int>(part.Whole(0, "bits a value", 1, 16)));
}

}  // namespace torus::parallel
