#include "tests/layering/document_rules.h"

#include <algorithm>
#include <regex>

namespace torus::layering {
namespace {

std::vector<std::string> Matches(std::string_view text, const std::regex& pattern) {
  std::vector<std::string> found;
  for (std::cregex_iterator at(text.begin(), text.end(), pattern), end; at != end; ++at)
    found.push_back((*at)[1]);
  return found;
}

}  // namespace

std::vector<std::string> LinksOf(std::string_view page) {
  static const std::regex link(R"(\]\(([^)#\s:]+)(?:#[^)\s]*)?\))");
  return Matches(page, link);
}

std::vector<std::string> PathsOf(std::string_view page, const std::vector<std::string>& tops) {
  static const std::regex path(R"(`([A-Za-z0-9_.-]+/[A-Za-z0-9_./-]*)`)");
  std::vector<std::string> paths;
  for (std::string found : Matches(page, path)) {
    if (std::ranges::count(tops, found.substr(0, found.find('/'))) == 0) continue;
    if (found.ends_with("/...")) found.resize(found.size() - 4);
    while (found.ends_with('/')) found.pop_back();
    paths.push_back(found);
  }
  return paths;
}

std::vector<std::string> AnchorsOf(std::string_view page) {
  static const std::regex anchor("<a id=\"([A-Za-z0-9_-]+)\">");
  return Matches(page, anchor);
}

std::vector<std::string> InnerLinksOf(std::string_view page) {
  static const std::regex link(R"(\]\(#([A-Za-z0-9_-]+)\))");
  return Matches(page, link);
}

std::vector<std::string> UnnamedSectionsOf(std::string_view page) {
  static constexpr std::string_view kStart = "\n\n**";
  std::vector<std::string> found;
  for (size_t at = page.find(kStart); at != page.npos; at = page.find(kStart, at + 1))
    found.emplace_back(page.substr(at + 2, page.find('\n', at + 2) - at - 2));
  return found;
}

}  // namespace torus::layering
