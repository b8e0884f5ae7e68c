// Parses command lines in the same way for every program.
#pragma once

#include <CLI/CLI.hpp>
#include <string>

namespace torus::tools {

// Reads the arguments (argv[0] is the program) into the variables of `app`. Returns the help text
// if --help is given, otherwise an empty text. The help text shows what each variable holds now as
// its option's default, unless the description says "Default", and where the option applies
// (flag_table.h has it under the app's name). Throws BadInput, in one line prefixed with the app's
// name, for a flag that is unknown, missing, malformed or out of range.
std::string ParseFlags(CLI::App& app, int argc, const char* const* argv);

// The same, but prints the help text. Returns true if it did; the program should then end.
bool PrintsHelp(CLI::App& app, int argc, const char* const* argv);

}  // namespace torus::tools
