// The text of a codec, taken apart: "hadamard+uniform:4:stochastic/channel", "ef(topk:0.1)".
#pragma once

#include <cstdint>
#include <string>
#include <vector>

namespace torus::parallel {

// name, name:argument:argument or name(codec).
struct CodecPart {
  std::string name;
  std::vector<std::string> arguments;
  std::string inner;  // of the parentheses; empty where there are none

  // The i-th argument as a whole number from `least` to `most`, or as a number above 0 up to 1.
  // BadInput where it is none, or there is none.
  int64_t Whole(size_t i, const char* what, int64_t least, int64_t most) const;
  double Share(size_t i, const char* what) const;
  // BadInput where there are more arguments than that.
  void AtMost(size_t arguments) const;
};

struct CodecText {
  std::vector<CodecPart> parts;  // between plus signs; at least one
  std::string grain;             // behind the slash; empty where there is none
};

// BadInput where parentheses do not match or a part has no name.
CodecText ParseCodec(const std::string& text);

// `text` cut at each `separator` that no parentheses enclose; BadInput where they do not match.
std::vector<std::string> SplitOutside(const std::string& text, char separator);

}  // namespace torus::parallel
