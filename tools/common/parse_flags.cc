#include "tools/common/parse_flags.h"

#include <fmt/format.h>

#include "runtime/error.h"

namespace torus::tools {
namespace {

// The first line of CLI11's message, without its advice.
std::string OneLine(const CLI::ParseError& error) {
  const std::string text = error.what();
  return text.substr(0, text.find('\n'));
}

}  // namespace

std::string ParseFlags(CLI::App& app, int argc, const char* const* argv) {
  try {
    app.parse(argc, argv);
  } catch (const CLI::CallForHelp&) {
    return app.help();
  } catch (const CLI::ParseError& error) {
    Throw<BadInput>(app.get_name(), "{} (--help lists the flags)", OneLine(error));
  }
  return "";
}

bool PrintsHelp(CLI::App& app, int argc, const char* const* argv) {
  const std::string help = ParseFlags(app, argc, argv);
  fmt::print("{}", help);
  return !help.empty();
}

std::string NotNegative(const std::string& text) {
  return text.starts_with('-') ? fmt::format("must be at least 0, got {}", text) : "";
}

}  // namespace torus::tools
