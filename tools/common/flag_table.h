// The one table of where each flag of each program applies. CheckFlags refuses the others by it,
// `--help` shows it, and a test walks all of it.
#pragma once

#include <span>
#include <string_view>
#include <vector>

namespace torus::tools {

// A condition on a command line.
struct FlagContext {
  std::string_view name;   // in FlagRow::where: "gpu"
  std::string_view needs;  // what a message and --help say of the flag: "needs --device cuda"
  bool in_help = true;     // false for what --help says once, of all such flags
};

struct FlagRow {
  std::string_view programs, flags;  // several are separated by spaces
  // Names of contexts that must all hold, separated by spaces; empty: the flags apply everywhere.
  std::string_view where;
  std::string_view neutral = "-";  // a value that asks for nothing, and is taken everywhere
};

std::span<const FlagContext> FlagContexts();
std::span<const FlagRow> FlagTable();

// The context of that name. An InternalError if there is none.
const FlagContext& ContextNamed(std::string_view name);
// The row of a flag, such as "--lr"; null if the program has no such row.
const FlagRow* RowOf(std::string_view program, std::string_view flag);
// "a b" split at its spaces.
std::vector<std::string_view> Words(std::string_view text);

}  // namespace torus::tools
