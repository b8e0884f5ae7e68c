#include "parallel/codec/make_codec.h"

#include <algorithm>
#include <utility>
#include <vector>

#include "parallel/codec/chain_codec.h"
#include "parallel/codec/codec_list.h"
#include "parallel/codec/codec_text.h"
#include "parallel/codec/grain.h"
#include "parallel/codec/raw_codec.h"
#include "runtime/error.h"

namespace torus::parallel {
namespace {

using CodecPtr = std::unique_ptr<Codec>;

[[noreturn]] void ThrowUnknown(const std::string& text) {
  std::vector<std::string> known;
  for (const auto list = ListedCodecs(); const CodecEntry& entry : *list)
    known.push_back(entry.written);
  Throw<BadInput>("codec", "known codecs are {}; got '{}'", fmt::join(known, ", "), text);
}

CodecEntry EntryOf(const CodecPart& part, const std::string& text) {
  const auto list = ListedCodecs();
  const auto entry = std::ranges::find(*list, part.name, &CodecEntry::name);
  if (entry == list->end() || !part.inner.empty() != (entry->around != nullptr)) ThrowUnknown(text);
  return *entry;
}

// Makes the codec of parts[i] and the parts after it.
CodecPtr MakeFrom(const CodecText& parsed, size_t i, const std::string& text) {
  const CodecPart& part = parsed.parts[i];
  const CodecEntry entry = EntryOf(part, text);
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
  for (const auto list = ListedCodecs(); const CodecEntry& entry : *list)
    names.insert(names.end(), entry.examples.begin(), entry.examples.end());
  return names;
}

std::vector<std::pair<std::string, std::string>> CodecDescriptions() {
  std::vector<std::pair<std::string, std::string>> all;
  for (const auto list = ListedCodecs(); const CodecEntry& entry : *list)
    all.emplace_back(entry.written, entry.about);
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
