#include "tools/common/parse_flags.h"

#include <fmt/format.h>

#include <charconv>
#include <cmath>
#include <cstdlib>
#include <memory>
#include <string_view>

#include "runtime/error.h"
#include "tools/common/help_text.h"

namespace torus::tools {
namespace {

// The first line of CLI11's message, without its advice.
std::string OneLine(const CLI::ParseError& error) {
  std::string text = error.what();
  text = text.substr(0, text.find('\n'));
  constexpr std::string_view kSeveral = ": At Most 1 required but received ";
  if (const size_t at = text.find(kSeveral); at != text.npos)
    text.replace(at, kSeveral.size(), " takes one value, got ");
  return text;
}

template <class Whole>
bool IsWhole(std::string_view text) {
  const std::string_view digits = text.substr(text.starts_with('-') ? 1 : 0);
  const char* const end = text.data() + text.size();
  Whole value = 0;
  const auto [at, error] = std::from_chars(text.data(), end, value);
  return error == std::errc() && at == end && (digits.size() == 1 || digits.front() != '0');
}

bool IsReal(const std::string& text) {
  return !text.empty() && !std::isnan(std::strtod(text.c_str(), nullptr));
}

// What CLI11 forgives in a number: it reads -1 as 2^64 - 1 where there are no negative ones, what
// is beyond 64 bits as the nearest, 010 as 8, nothing as 0, and has NaN within every range.
void CheckNumbers(const CLI::App& app) {
  for (const CLI::Option* option : app.get_options())
    for (const std::string& text : option->results()) {
      const std::string type = option->get_type_name();
      const auto require = [&](bool ok, const char* what) {
        Require(ok, app.get_name(), "{} must be {}, got \"{}\"", option->get_name(), what, text);
      };
      if (type.starts_with("UINT"))
        require(IsWhole<uint64_t>(text), "a whole number from 0 to 2^64 - 1 in decimal digits");
      if (type.starts_with("INT"))
        require(IsWhole<int64_t>(text), "a whole number below 2^63 in decimal digits");
      if (type.starts_with("FLOAT")) require(IsReal(text), "a number");
    }
}

constexpr size_t kColumns = 100;

// CLI11's layout, in lines of at most kColumns.
class WrappedHelp : public CLI::Formatter {
 public:
  std::string make_option_desc(const CLI::Option* option) const override {
    return Wrapped(Formatter::make_option_desc(option), kColumns - get_column_width());
  }
  std::string make_description(const CLI::App* app) const override {
    return Wrapped(Formatter::make_description(app), kColumns) + "\n";
  }
  std::string make_footer(const CLI::App* app) const override {
    const std::string footer = Wrapped(Formatter::make_footer(app), kColumns);
    return footer.empty() ? footer : footer + "\n";
  }
};

}  // namespace

std::string ParseFlags(CLI::App& app, int argc, const char* const* argv) {
  app.formatter(std::make_shared<WrappedHelp>());
  try {
    app.parse(argc, argv);
  } catch (const CLI::CallForHelp&) {
    return app.help();
  } catch (const CLI::ParseError& error) {
    Throw<BadInput>(app.get_name(), "{} (--help lists the flags)", OneLine(error));
  }
  CheckNumbers(app);
  return "";
}

bool PrintsHelp(CLI::App& app, int argc, const char* const* argv) {
  const std::string help = ParseFlags(app, argc, argv);
  fmt::print("{}", help);
  return !help.empty();
}

}  // namespace torus::tools
