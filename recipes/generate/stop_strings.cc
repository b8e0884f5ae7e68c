#include "recipes/generate/stop_strings.h"

#include <algorithm>
#include <string_view>
#include <utility>

#include "runtime/error.h"

namespace torus::recipes {

StopStrings::StopStrings(std::vector<std::string> strings) : strings_(std::move(strings)) {
  for (const std::string& one : strings_)
    Require(!one.empty(), "generate", "--stop must not be empty");
}

std::string StopStrings::Add(const std::string& piece) {
  if (stopped_) return "";
  text_ += piece;
  // What was shown can be no part of a string: it would have been held back.
  size_t end = text_.npos, held = text_.size();
  for (const std::string& one : strings_) end = std::min(end, text_.find(one, shown_));
  if (end != text_.npos) {
    stopped_ = true;
    text_.resize(end);
    return Show(end);
  }
  for (const std::string& one : strings_)
    for (size_t at = std::max(shown_, text_.size() - std::min(text_.size(), one.size() - 1));
         at < held; ++at)
      if (one.starts_with(std::string_view(text_).substr(at))) held = at;
  return Show(held);
}

std::string StopStrings::Finish() { return Show(text_.size()); }

std::string StopStrings::Show(size_t end) {
  const size_t begin = std::exchange(shown_, end);
  return text_.substr(begin, end - begin);
}

}  // namespace torus::recipes
