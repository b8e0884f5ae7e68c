// Refuses flags that would change nothing, by the table of flag_table.h.
#pragma once

#include <CLI/CLI.hpp>
#include <map>
#include <string>
#include <vector>

namespace torus::tools {

// The flags of a command line, "--lr", with their values as written; "true" for a switch.
using GivenFlags = std::map<std::string, std::string>;

// The name by which the table has an option: "--lr"; empty for a positional argument.
std::string FlagOf(const CLI::Option& option);
GivenFlags GivenBy(const CLI::App& app);

// Whether a context of the table holds on this command line, and if not, what there is: "got cpu".
struct HereOrNot {
  std::string context;
  bool here = false;
  std::string instead;
};

// Throws BadInput, "[train] --gpu-links needs --device cuda, got cpu", for the first of the given
// flags that does not apply. `contexts` has all that the program's rows name. A flag without a row
// applies everywhere.
void CheckFlags(const std::string& program, const GivenFlags& given,
                const std::vector<HereOrNot>& contexts);

}  // namespace torus::tools
