// The programs whose flags are walked: command lines for each context that a flag may depend on.
#pragma once

#include <map>
#include <optional>
#include <ostream>
#include <string>
#include <vector>

namespace torus::tools::testing {

using Words = std::vector<std::string>;

// Command lines that are such a context, and that are not. One that cannot be has no value.
struct Place {
  std::optional<Words> here, elsewhere;
};

struct Walk {
  std::string program, path;
  Words always;  // what it needs to get as far as the table, and to end soon behind it
  std::map<std::string, Place> places;
  std::map<std::string, std::string> values = {};  // of flags whose default does not do
};

inline void PrintTo(const Walk& walk, std::ostream* out) { *out << walk.program; }

// A path at which there is nothing.
inline constexpr char kNowhere[] = "/nowhere/at/all";

// A walk of each program of the table.
std::vector<Walk> Walks();

}  // namespace torus::tools::testing
