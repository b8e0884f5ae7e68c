#include "data/text/documents.h"

#include <fmt/format.h>

#include <algorithm>
#include <nlohmann/json.hpp>

#include "data/text/utf8.h"
#include "runtime/error.h"
#include "runtime/io/json.h"

namespace torus::data {
namespace {

bool IsOfJsonLines(std::string_view path) {
  return path.ends_with(".jsonl") || path.ends_with(".ndjson");
}

std::string DocumentOf(std::string_view line, const std::string& where) {
  const nlohmann::json json = io::ParseJsonObject(line, where);
  const nlohmann::json& text = io::Member(json, "text");
  Require(text.is_string(), where, "requires an object with a string \"text\", got {}",
          io::Brief(json));
  return text.get<std::string>();
}

std::deque<std::string> ParseLines(std::string_view lines, const std::string& path) {
  std::deque<std::string> documents;
  for (int64_t number = 1; !lines.empty(); ++number) {
    const size_t end = std::min(lines.find('\n'), lines.size());
    std::string_view line = lines.substr(0, end);
    lines.remove_prefix(std::min(end + 1, lines.size()));
    if (line.find_first_not_of(" \t\r") == line.npos) continue;
    documents.push_back(DocumentOf(line, fmt::format("{} line {}", path, number)));
  }
  return documents;
}

}  // namespace

std::pair<std::string_view, std::string_view> SplitText(std::string_view text,
                                                        const std::vector<SpecialToken>& tokens) {
  const bool utf8 = ValidUtf8Prefix(text) == text.size();
  const auto begins = [&](char byte) {
    return !utf8 || (static_cast<uint8_t>(byte) & 0xC0) != 0x80;
  };
  size_t left = static_cast<size_t>(std::ranges::count_if(text, begins)) * 9 / 10, at = 0;
  for (; at < text.size(); ++at) {
    if (begins(text[at]) && left-- == 0) break;
  }
  at = PlaceBetween(text, at, tokens);
  return {text.substr(0, at), text.substr(at)};
}

Documents::Documents(const std::string& path) : file_(path), json_lines_(IsOfJsonLines(path)) {
  const std::string_view text(reinterpret_cast<const char*>(file_.bytes().data()),
                              file_.bytes().size());
  if (json_lines_) {
    parsed_ = ParseLines(text, path);
    all_ = {parsed_.begin(), parsed_.end()};
  } else {
    all_ = {text};
  }
  std::erase_if(all_, [](std::string_view document) { return document.empty(); });
}

std::pair<Documents::Texts, Documents::Texts> Documents::Split(
    const std::vector<SpecialToken>& tokens) const {
  if (all_.empty()) return {};
  if (!json_lines_) {
    const auto [first, rest] = SplitText(all_[0], tokens);
    return {{first}, {rest}};
  }
  size_t bytes = 0, before = 0;
  for (const std::string_view document : all_) bytes += document.size();
  auto end = all_.begin();
  while (end != all_.end() && (before + end->size()) * 10 <= bytes * 9) before += (end++)->size();
  return {{all_.begin(), end}, {end, all_.end()}};
}

}  // namespace torus::data
