// What pages of Markdown point to: other pages, and files and folders of the tree.
#pragma once

#include <string>
#include <string_view>
#include <vector>

namespace torus::layering {

// Targets of links within the tree, without their #anchors: "x.md" of [text](x.md#y).
std::vector<std::string> LinksOf(std::string_view page);

// What stands between backticks and looks like a path of the tree: words with a slash whose first
// folder is one of `tops`, without a trailing slash or "/...".
std::vector<std::string> PathsOf(std::string_view page, const std::vector<std::string>& tops);

}  // namespace torus::layering
