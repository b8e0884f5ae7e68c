// Text as it is generated, up to the first of some strings that end it.
#pragma once

#include <string>
#include <vector>

namespace torus::recipes {

class StopStrings {
 public:
  // Throws BadInput for an empty string.
  explicit StopStrings(std::vector<std::string> strings);

  // Adds a piece. Returns the text that can be shown from now on: all up to what may be the
  // beginning of one of the strings.
  std::string Add(const std::string& piece);
  // Returns what is left to show at the end of a text that none of the strings has ended.
  std::string Finish();

  bool stopped() const { return stopped_; }          // by one of them
  const std::string& text() const { return text_; }  // without the string that ended it

 private:
  std::string Show(size_t end);

  std::vector<std::string> strings_;
  std::string text_;
  size_t shown_ = 0;
  bool stopped_ = false;
};

}  // namespace torus::recipes
