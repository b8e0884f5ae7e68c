// Which codec each cut has, as a flag says it: "sortq:8" everywhere, or by cut,
// "1:sortq:8,2:none".
#pragma once

#include <map>
#include <string>

namespace torus::parallel {

struct CodecChoice {
  std::string everywhere = "none";  // but where `at` has another
  std::map<int, std::string> at;    // by cut: the number of the first stage behind it, from 1

  const std::string& Of(int cut) const {
    const auto found = at.find(cut);
    return found == at.end() ? everywhere : found->second;
  }
  // Whether any cut of those has a codec other than none.
  bool any() const;
};

// BadInput, tagged `flag`, for a codec that MakeCodec refuses, a cut that is named twice or is none
// of 1 to stages - 1, and two codecs for all cuts.
CodecChoice ParseCodecChoice(const std::string& flag, const std::string& text, int stages);

}  // namespace torus::parallel
