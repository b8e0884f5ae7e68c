#include "parallel/codec/codec_choice.h"

#include <algorithm>
#include <charconv>

#include "parallel/codec/codec_text.h"
#include "parallel/codec/make_codec.h"
#include "runtime/error.h"

namespace torus::parallel {
namespace {

// The cut that an entry like "1:sortq:8" begins with; 0 if it names none.
int CutOf(const std::string& flag, const std::string& entry, int stages) {
  const size_t colon = entry.find(':');
  const bool digits = colon != std::string::npos && colon > 0 &&
                      std::all_of(entry.begin(), entry.begin() + static_cast<int64_t>(colon),
                                  [](char c) { return c >= '0' && c <= '9'; });
  if (!digits) return 0;
  int cut = 0;
  const auto read = std::from_chars(entry.data(), entry.data() + colon, cut);
  Require(stages > 1, flag, "names a cut in '{}', but with one stage there is none", entry);
  Require(read.ec == std::errc() && cut >= 1 && cut < stages, flag,
          "must name cuts from 1 to {}, by the stage after each, got '{}'", stages - 1, entry);
  return cut;
}

}  // namespace

bool CodecChoice::any() const {
  return everywhere != "none" ||
         std::ranges::any_of(at, [](const auto& entry) { return entry.second != "none"; });
}

CodecChoice ParseCodecChoice(const std::string& flag, const std::string& text, int stages) {
  CodecChoice choice;
  bool everywhere = false;
  for (const std::string& entry : SplitOutside(text, ',')) {
    const int cut = CutOf(flag, entry, stages);
    const std::string codec = cut == 0 ? entry : entry.substr(entry.find(':') + 1);
    MakeCodec(codec);
    const bool twice = cut == 0 ? everywhere : choice.at.contains(cut);
    Require(!twice, flag, "takes one codec for each cut and one for the others, got '{}'", text);
    if (cut == 0)
      choice.everywhere = codec, everywhere = true;
    else
      choice.at[cut] = codec;
  }
  return choice;
}

}  // namespace torus::parallel
