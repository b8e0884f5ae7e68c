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

struct Entry {
  std::string name, about;
  Maker make;
};

const std::vector<Entry>& Entries() {
  static const auto* entries = new std::vector<Entry>{
      {"none", "the float32 bytes as they are", [] { return std::make_unique<RawCodec>(); }},
      {"sortq:16", "sort quantization to 16 bits a value",
       [] { return std::make_unique<SortQuantization>(16); }},
      {"sortq:12", "sort quantization to 12 bits a value",
       [] { return std::make_unique<SortQuantization>(12); }},
      {"sortq:8", "sort quantization to 8 bits a value",
       [] { return std::make_unique<SortQuantization>(8); }},
      {"sortq:4", "sort quantization to 4 bits a value",
       [] { return std::make_unique<SortQuantization>(4); }},
  };
  return *entries;
}

}  // namespace

std::vector<std::string> CodecNames() {
  std::vector<std::string> names;
  for (const Entry& entry : Entries()) names.push_back(entry.name);
  return names;
}

std::vector<std::pair<std::string, std::string>> CodecDescriptions() {
  std::vector<std::pair<std::string, std::string>> all;
  for (const Entry& entry : Entries()) all.emplace_back(entry.name, entry.about);
  return all;
}

std::unique_ptr<Codec> MakeCodec(const std::string& name) {
  for (const Entry& entry : Entries())
    if (entry.name == name) return entry.make();
  Throw<BadInput>("codec", "known codecs are {}; got '{}'", fmt::join(CodecNames(), ", "), name);
}

}  // namespace torus::parallel
