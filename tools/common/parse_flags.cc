#include "tools/common/parse_flags.h"

#include <fmt/format.h>

#include <algorithm>
#include <charconv>
#include <cmath>
#include <cstdlib>
#include <memory>
#include <numeric>
#include <string_view>
#include <utility>
#include <vector>

#include "runtime/error.h"
#include "tools/common/help_text.h"

namespace torus::tools {
namespace {

// How many letters must be added, removed or changed to turn `a` into `b`.
size_t DistanceOf(std::string_view a, std::string_view b) {
  std::vector<size_t> row(b.size() + 1);
  std::iota(row.begin(), row.end(), size_t{0});
  for (size_t i = 1; i <= a.size(); ++i) {
    size_t diagonal = std::exchange(row[0], i);
    for (size_t j = 1; j <= b.size(); ++j) {
      const size_t changed = diagonal + (a[i - 1] == b[j - 1] ? 0 : 1);
      diagonal = row[j];
      row[j] = std::min({row[j] + 1, row[j - 1] + 1, changed});
    }
  }
  return row.back();
}

// The flag that `word` is a misspelling of; empty if none is close.
std::string NearestFlag(const CLI::App& app, std::string_view word) {
  size_t least = 3;
  std::string nearest;
  for (const CLI::Option* option : app.get_options())
    for (const std::string& name : option->get_lnames())
      if (const size_t distance = DistanceOf(word, "--" + name); distance < least) {
        least = distance;
        nearest = "--" + name;
      }
  return nearest;
}

// Of arguments that are left over, says the first flag, else the first.
std::string LeftOver(const CLI::App& app) {
  const std::vector<std::string> words = app.remaining();
  const auto flag = std::ranges::find_if(words, [](auto& word) { return word.starts_with("-"); });
  if (flag == words.end()) return "unexpected argument " + words.at(0);
  const std::string name = flag->substr(0, flag->find('=')), nearest = NearestFlag(app, name);
  return "unknown flag " + name + (nearest.empty() ? "" : "; did you mean " + nearest + "?");
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

std::string ReasonOf(const CLI::App& app, const CLI::ParseError& error) {
  if (dynamic_cast<const CLI::ExtrasError*>(&error) != nullptr) return LeftOver(app);
  if (dynamic_cast<const CLI::ConversionError*>(&error) != nullptr)
    if (const std::string text = error.what(); text.starts_with("Could not convert: "))
      return NotConverted(app, text);
  return OneLine(error);
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
