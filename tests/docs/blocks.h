// The indented blocks of a page of Markdown, each with what a mark above it says of it.
#pragma once

#include <string>
#include <string_view>
#include <vector>

namespace torus::docs {

struct Block {
  int line = 0;  // of the page, from 1
  // The words of <!-- ... --> in the last line above the block that is not empty; "" without.
  std::string mark;
  // Without the indent and empty lines, joined where one ends with a backslash.
  std::vector<std::string> lines;
};

// Runs of lines that are indented by four spaces, behind an empty line. Blocks between fences, of
// which guides have none, are not among them.
std::vector<Block> BlocksOf(std::string_view page);

}  // namespace torus::docs
