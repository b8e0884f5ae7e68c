#include "parallel/codec/codec_text.h"

#include <algorithm>
#include <charconv>

#include "runtime/error.h"

namespace torus::parallel {
namespace {

constexpr size_t kLongest = 200;  // characters of a codec's text

CodecPart ParsePart(const std::string& text) {
  CodecPart part;
  const size_t open = text.find('(');
  if (open != std::string::npos) {
    Require(text.back() == ')', "codec", "needs nothing behind the parentheses, got '{}'", text);
    part.name = text.substr(0, open);
    part.inner = text.substr(open + 1, text.size() - open - 2);
    Require(!part.inner.empty(), "codec", "needs a codec in the parentheses, got '{}'", text);
  } else {
    part.arguments = SplitOutside(text, ':');
    part.name = part.arguments.front();
    part.arguments.erase(part.arguments.begin());
  }
  Require(!part.name.empty(), "codec", "needs a codec's name, got '{}'", text);
  return part;
}

template <class T>
bool Reads(const std::string& text, T& value) {
  const char* const end = text.data() + text.size();
  const auto [at, error] = std::from_chars(text.data(), end, value);
  return error == std::errc() && at == end;
}

}  // namespace

int64_t CodecPart::Whole(size_t i, const char* what, int64_t least, int64_t most) const {
  int64_t value = 0;
  const bool reads = i < arguments.size() && Reads(arguments[i], value);
  Require(reads && value >= least && value <= most, name, "takes {} of {} to {}, got '{}'", what,
          least, most, i < arguments.size() ? arguments[i] : "");
  return value;
}

double CodecPart::Share(size_t i, const char* what) const {
  double value = 0;
  const bool reads = i < arguments.size() && Reads(arguments[i], value);
  Require(reads && value > 0 && value <= 1, name, "takes {} above 0 and up to 1, got '{}'", what,
          i < arguments.size() ? arguments[i] : "");
  return value;
}

void CodecPart::AtMost(size_t most) const {
  Require(arguments.size() <= most, name, "takes at most {} arguments, got {}", most,
          arguments.size());
}

std::vector<std::string> SplitOutside(const std::string& text, char separator) {
  std::vector<std::string> parts(1);
  int depth = 0;
  for (const char c : text) {
    depth += (c == '(') - (c == ')');
    Require(depth >= 0, "codec", "needs a '(' for each ')', got '{}'", text);
    if (c == separator && depth == 0)
      parts.emplace_back();
    else
      parts.back() += c;
  }
  Require(depth == 0, "codec", "needs a ')' for each '(', got '{}'", text);
  return parts;
}

CodecText ParseCodec(const std::string& text) {
  Require(text.size() <= kLongest, "codec", "takes at most {} characters, got {}", kLongest,
          text.size());
  const auto prints = [](char c) { return c > ' ' && c <= '~'; };
  Require(std::ranges::all_of(text, prints), "codec",
          "must not contain spaces or unprintable characters");
  const std::vector<std::string> halves = SplitOutside(text, '/');
  Require(halves.size() <= 2, "codec", "takes one '/', got '{}'", text);
  CodecText parsed;
  for (const std::string& part : SplitOutside(halves[0], '+'))
    parsed.parts.push_back(ParsePart(part));
  if (halves.size() == 2) {
    parsed.grain = halves[1];
    Require(!parsed.grain.empty(), "codec", "needs a word behind '/', got '{}'", text);
  }
  return parsed;
}

}  // namespace torus::parallel
