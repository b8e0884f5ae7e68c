#include "tests/docs/commands.h"

#include <algorithm>

namespace torus::docs {
namespace {

constexpr std::string_view kStart = "./bazelw ";

Command Parse(std::string_view text, int line) {
  Command command{line};
  bool for_program = false;
  for (const std::string& word : ShellWords(text.substr(kStart.size()))) {
    if (word == "&&" || word == "|" || word == "<" || word == ">") break;
    if (for_program) {
      command.arguments.push_back(word);
    } else if (word == "--") {
      for_program = true;
    } else if (command.verb.empty()) {
      command.verb = word;
    } else {
      (word.starts_with("--") ? command.flags : command.targets).push_back(word);
    }
  }
  return command;
}

// From `start` to the end of its line, with those that it goes on in.
std::string WholeLine(std::string_view page, size_t start) {
  std::string line(page.substr(start, page.find('\n', start) - start));
  while (line.ends_with('\\')) {
    start = page.find('\n', start) + 1;
    line.back() = ' ';
    line += page.substr(start, page.find('\n', start) - start);
  }
  return line;
}

std::string BetweenTicks(std::string_view page, size_t start) {
  std::string text(page.substr(start, page.find('`', start) - start));
  std::ranges::replace(text, '\n', ' ');
  return text;
}

}  // namespace

std::string Shown(const Command& command) {
  std::string all;
  for (const std::vector<std::string>* words : {&command.targets, &command.arguments})
    for (const std::string& word : *words) all += (all.empty() ? "" : " ") + word;
  return all;
}

std::vector<std::string> ShellWords(std::string_view line) {
  std::vector<std::string> words;
  bool within = false;
  char quote = 0;
  for (const char c : line) {
    if (quote == 0 && (c == ' ' || c == '\n')) {
      within = false;
      continue;
    }
    if (!within && c == '#') break;
    if (!within) words.emplace_back();
    within = true;
    if (quote == 0 && (c == '"' || c == '\'')) {
      quote = c;
    } else if (c == quote) {
      quote = 0;
    } else {
      words.back() += c;
    }
  }
  return words;
}

std::vector<Command> CommandsOf(std::string_view page) {
  std::vector<Command> commands;
  for (size_t at = page.find(kStart); at != page.npos; at = page.find(kStart, at + 1)) {
    const int line = 1 + static_cast<int>(std::ranges::count(page.substr(0, at), '\n'));
    const size_t begin = at == 0 ? 0 : page.rfind('\n', at - 1) + 1;
    if (at - begin >= 4 && page.substr(begin, at - begin).find_first_not_of(' ') == page.npos)
      commands.push_back(Parse(WholeLine(page, at), line));
    else if (at > 0 && page[at - 1] == '`')
      commands.push_back(Parse(BetweenTicks(page, at), line));
  }
  return commands;
}

}  // namespace torus::docs
