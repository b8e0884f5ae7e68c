#include "recipes/study/escape.h"

namespace torus::study {

std::string HtmlText(std::string_view text) {
  std::string html;
  for (const char c : text) switch (c) {
      case '&':
        html += "&amp;";
        break;
      case '<':
        html += "&lt;";
        break;
      case '>':
        html += "&gt;";
        break;
      case '"':
        html += "&quot;";
        break;
      case '{':
        html += "&#123;";
        break;
      default:
        html += c;
    }
  return html;
}

std::string MarkdownText(std::string_view text) {
  constexpr std::string_view kMarks = "\\|<*_`";
  std::string markdown;
  for (const char c : text) {
    if (kMarks.find(c) != std::string_view::npos) markdown += '\\';
    markdown += c == '\n' || c == '\r' ? ' ' : c;
  }
  return markdown;
}

std::string CsvField(std::string_view text) {
  if (text.find_first_of(",\"\r\n") == std::string_view::npos) return std::string(text);
  std::string field = "\"";
  for (const char c : text) field += c == '"' ? std::string("\"\"") : std::string(1, c);
  return field + "\"";
}

}  // namespace torus::study
