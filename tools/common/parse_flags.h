// Command lines, read in the same way by every program.
#pragma once

#include <CLI/CLI.hpp>
#include <string>

namespace torus::tools {

// Reads the arguments (argv[0] is the program) into the variables of `app`. Returns the text that
// --help asks for, else an empty one. BadInput tagged with the app's name, in one line, for a flag
// that is unknown, missing, malformed or out of range.
std::string ParseFlags(CLI::App& app, int argc, const char* const* argv);

// The same, printing that text. True where there was one: nothing else is to be done then.
bool PrintsHelp(CLI::App& app, int argc, const char* const* argv);

}  // namespace torus::tools
