#include "recipes/blocks/layer_list.h"

#include <charconv>
#include <sstream>

#include "runtime/error.h"

namespace torus::recipes {
namespace {

struct LayerRange {
  int first = 0, last = 0;
};

// "7" or "7-9".
LayerRange ParseRange(const std::string& flag, const std::string& item, int layers) {
  const char *begin = item.data(), *end = begin + item.size();
  LayerRange range;
  auto [rest, error] = std::from_chars(begin, end, range.first);
  bool whole = error == std::errc();
  range.last = range.first;
  if (whole && rest != end && *rest == '-') {
    const auto second = std::from_chars(rest + 1, end, range.last);
    whole = second.ec == std::errc();
    rest = second.ptr;
  }
  Require(whole && rest == end && range.first >= 0 && range.first <= range.last, "train",
          "{} must be none, all or layers such as 0,3,7-9, got \"{}\"", flag, item);
  Require(range.last < layers, "train", "{} must name layers below {}, got {}", flag, layers,
          range.last);
  return range;
}

}  // namespace

std::vector<bool> ParseLayerList(const std::string& flag, const std::string& text, int layers) {
  std::vector<bool> meant(layers, text == "all");
  if (text == "all" || text == "none") return meant;
  std::istringstream items(text + ",");
  for (std::string item; std::getline(items, item, ',');) {
    const LayerRange range = ParseRange(flag, item, layers);
    for (int i = range.first; i <= range.last; ++i) meant[i] = true;
  }
  return meant;
}

}  // namespace torus::recipes
