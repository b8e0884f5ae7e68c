// The commands of a page of Markdown that start with ./bazelw.
#pragma once

#include <string>
#include <string_view>
#include <vector>

namespace torus::docs {

struct Command {
  int line = 0;  // of the page, from 1
  // After ./bazelw and its verb: Bazel's own flags, targets, and behind -- what is for the program.
  std::string verb;
  std::vector<std::string> flags, targets, arguments;
};

// Targets and arguments, as a line.
std::string Shown(const Command& command);

// Words as a shell takes them: quotes hold a word together, and # after a space ends the line.
std::vector<std::string> ShellWords(std::string_view line);

// Those of indented lines, joined where one ends with a backslash, and those between backticks,
// which may go over the end of a line.
std::vector<Command> CommandsOf(std::string_view page);

}  // namespace torus::docs
