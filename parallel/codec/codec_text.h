// Parses the text of a codec: "hadamard+uniform:4:stochastic/channel", "ef(topk:0.1)".
#pragma once

#include <cstdint>
#include <string>
#include <vector>

namespace torus::parallel {

// One part: name, name:argument:argument or name(codec).
struct CodecPart {
  std::string name;
  std::vector<std::string> arguments;
  std::string inner;  // inside the parentheses; empty if there are none

  // Whole returns the i-th argument as an integer from `least` to `most`, Share as a number above 0
  // and at most 1. Both throw BadInput if it is missing or anything else.
  int64_t Whole(size_t i, const char* what, int64_t least, int64_t most) const;
  double Share(size_t i, const char* what) const;
  // Throws BadInput if there are more arguments than that.
  void AtMost(size_t arguments) const;
};

struct CodecText {
  std::vector<CodecPart> parts;  // separated by plus signs; at least one
  std::string grain;             // after the slash; empty if there is none
};

// Throws BadInput if parentheses do not match or a part has no name.
CodecText ParseCodec(const std::string& text);

// Splits `text` at each `separator` outside parentheses. Throws BadInput if these do not match.
std::vector<std::string> SplitOutside(const std::string& text, char separator);

}  // namespace torus::parallel
