#include "tools/common/parse_flags.h"

#include <fmt/ranges.h>

#include <algorithm>
#include <charconv>
#include <cmath>
#include <cstdlib>
#include <memory>
#include <sstream>
#include <string>
#include <string_view>
#include <vector>

#include "runtime/did_you_mean.h"
#include "runtime/error.h"
#include "tools/common/check_flags.h"
#include "tools/common/flag_table.h"
#include "tools/common/help_text.h"

namespace torus::tools {
namespace {

std::vector<std::string> FlagsOf(const CLI::App& app) {
  std::vector<std::string> flags;
  for (const CLI::Option* option : app.get_options())
    for (const std::string& name : option->get_lnames()) flags.push_back("--" + name);
  return flags;
}

// Of arguments that are left over, says the first flag, else the first.
std::string LeftOver(const CLI::App& app) {
  const std::vector<std::string> words = app.remaining();
  const auto flag = std::ranges::find_if(words, [](auto& word) { return word.starts_with("-"); });
  if (flag == words.end()) return "unexpected argument " + words.at(0);
  const std::string name = flag->substr(0, flag->find('='));
  return "unknown flag " + name + DidYouMean(name, FlagsOf(app));
}

// "--rate must be a number, got abc" of CLI11's "Could not convert: --rate = abc".
std::string NotConverted(const CLI::App& app, const std::string& text) {
  const size_t begin = text.find(": ") + 2, end = text.find(" = ", begin);
  const std::string name = text.substr(begin, end - begin);
  const CLI::Option* const option = app.get_option_no_throw(name);
  const std::string type = option == nullptr ? "" : option->get_type_name();
  const bool several = option != nullptr && option->get_items_expected_max() > 1;
  const char* const wanted = type.find("INT") != type.npos
                                 ? several ? "whole numbers" : "a whole number"
                             : type.find("FLOAT") != type.npos ? several ? "numbers" : "a number"
                                                               : "another kind of value";
  return fmt::format("{} must be {}, got {}", name, wanted, text.substr(end + 3));
}

// "1.5" of "1.500000", as CLI11 writes the end of a range.
std::string Short(std::string number) {
  if (number.find('.') == number.npos) return number;
  number.erase(number.find_last_not_of('0') + 1);
  return number.substr(0, number.size() - (number.back() == '.' ? 1 : 0));
}

// "0 to 1" of "0.000000 to 1.000000".
std::string ShortRange(const std::string& range) {
  const size_t to = range.find(" to ");
  return to == range.npos ? range
                          : Short(range.substr(0, to)) + " to " + Short(range.substr(to + 4));
}

// The first line of CLI11's message, without its advice.
std::string OneLine(const CLI::ParseError& error) {
  std::string text = error.what();
  text = text.substr(0, text.find('\n'));
  constexpr std::string_view kSeveral = ": At Most 1 required but received ";
  if (const size_t at = text.find(kSeveral); at != text.npos)
    text.replace(at, kSeveral.size(), " takes one value, got ");
  // "--rate: Value 7 not in range 0 to 1"
  constexpr std::string_view kValue = ": Value ", kRange = " not in range ";
  if (const size_t at = text.find(kValue), range = text.find(kRange);
      at != text.npos && range != text.npos)
    return fmt::format("{} must be a number from {}, got {}", text.substr(0, at),
                       ShortRange(text.substr(range + kRange.size())),
                       text.substr(at + kValue.size(), range - at - kValue.size()));
  return text;
}

// "--data must be one of a, b, got c" of CLI11's "--data: c not in {a,b}".
std::string NotOneOf(const std::string& text) {
  constexpr std::string_view kNotIn = " not in {";
  const size_t colon = text.find(": "), at = text.find(kNotIn), end = text.rfind('}');
  if (colon == text.npos || at == text.npos || end == text.npos || at < colon) return text;
  const std::string got = text.substr(colon + 2, at - colon - 2);
  std::vector<std::string> names;
  std::istringstream list(text.substr(at + kNotIn.size(), end - at - kNotIn.size()));
  for (std::string name; std::getline(list, name, ',');) names.push_back(name);
  return fmt::format("{} must be one of {}, got {}{}", text.substr(0, colon),
                     fmt::join(names, ", "), got, DidYouMean(got, names));
}

std::string ReasonOf(const CLI::App& app, const CLI::ParseError& error) {
  if (dynamic_cast<const CLI::ExtrasError*>(&error) != nullptr) return LeftOver(app);
  if (dynamic_cast<const CLI::ConversionError*>(&error) != nullptr)
    if (const std::string text = error.what(); text.starts_with("Could not convert: "))
      return NotConverted(app, text);
  return NotOneOf(OneLine(error));
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

// So that --help shows each default, unless the description has words for it.
void CaptureDefaults(CLI::App& app) {
  for (CLI::Option* option : app.get_options()) {
    if (option->get_required() || option->get_description().find("Default") != std::string::npos)
      continue;
    option->capture_default_str();
    if (option->get_default_str() == "[]") option->default_str("");
  }
}

std::string HelpOf(CLI::App& app) {
  for (CLI::Option* option : app.get_options()) {
    const FlagRow* const row = RowOf(app.get_name(), FlagOf(*option));
    if (row == nullptr) continue;
    std::string places;
    for (const std::string_view name : Words(row->where))
      if (const FlagContext& context = ContextNamed(name); context.in_help)
        places += fmt::format("{}{}", places.empty() ? "" : "; ", context.needs);
    if (places.empty()) continue;
    option->description(fmt::format("{} ({})", option->get_description(), places));
  }
  return app.help();
}

}  // namespace

std::string ParseFlags(CLI::App& app, int argc, const char* const* argv) {
  app.formatter(std::make_shared<WrappedHelp>());
  CaptureDefaults(app);
  try {
    app.parse(argc, argv);
  } catch (const CLI::CallForHelp&) {
    return HelpOf(app);
  } catch (const CLI::ParseError& error) {
    Throw<BadInput>(app.get_name(), "{} (--help lists the flags)", ReasonOf(app, error));
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
