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

// Names that a page gives to its places: "x" of <a id="x">.
std::vector<std::string> AnchorsOf(std::string_view page);

// Where links within a page lead: "x" of [text](#x).
std::vector<std::string> InnerLinksOf(std::string_view page);

// First words, up to the end of their line, of the paragraphs that begin in bold: what begins with
// an anchor does not.
std::vector<std::string> UnnamedSectionsOf(std::string_view page);

}  // namespace torus::layering
