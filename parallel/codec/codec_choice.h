// CodecChoice: the codec of each cut, as given by a flag: "sortq:8" for all, or per cut,
// "1:sortq:8,2:none".
#pragma once

#include <map>
#include <string>

namespace torus::parallel {

struct CodecChoice {
  std::string everywhere = "none";  // for cuts that are not in `at`
  std::map<int, std::string> at;    // key: the number of the first stage after the cut, from 1

  const std::string& Of(int cut) const {
    const auto found = at.find(cut);
    return found == at.end() ? everywhere : found->second;
  }
  // Whether any codec here is not `none`.
  bool any() const;
};

// Throws BadInput, tagged `flag`, for a codec that MakeCodec refuses, a cut given twice or outside
// 1 to stages - 1, or two codecs for all cuts.
CodecChoice ParseCodecChoice(const std::string& flag, const std::string& text, int stages);

}  // namespace torus::parallel
