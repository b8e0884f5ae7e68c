#include "parallel/codec/make_codec.h"

#include <functional>
#include <utility>
#include <vector>

#include "parallel/codec/raw_codec.h"
#include "parallel/codec/sort_quantization.h"
#include "runtime/error.h"

namespace torus::parallel {
namespace {

using Maker = std::function<std::unique_ptr<Codec>()>;

const std::vector<std::pair<std::string, Maker>>& Makers() {
  static const auto* makers = new std::vector<std::pair<std::string, Maker>>{
      {"none", [] { return std::make_unique<RawCodec>(); }},
      {"sortq:16", [] { return std::make_unique<SortQuantization>(16); }},
      {"sortq:12", [] { return std::make_unique<SortQuantization>(12); }},
      {"sortq:8", [] { return std::make_unique<SortQuantization>(8); }},
      {"sortq:4", [] { return std::make_unique<SortQuantization>(4); }},
  };
  return *makers;
}

}  // namespace

std::vector<std::string> CodecNames() {
  std::vector<std::string> names;
  for (const auto& [name, make] : Makers()) names.push_back(name);
  return names;
}

std::unique_ptr<Codec> MakeCodec(const std::string& name) {
  for (const auto& [known, make] : Makers())
    if (known == name) return make();
  Throw<BadInput>("codec", "known codecs are {}; got '{}'", fmt::join(CodecNames(), ", "), name);
}

}  // namespace torus::parallel
