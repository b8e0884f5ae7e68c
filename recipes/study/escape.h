// Escapes text for HTML, Markdown and CSV.
#pragma once

#include <string>
#include <string_view>

namespace torus::study {

// For HTML, inside an element or a quoted attribute. Escapes "{" too, which marks places to fill in
// a page.
std::string HtmlText(std::string_view text);
// For a cell or a line of Markdown: escapes "|", "<", "*", "_", "`" and line ends.
std::string MarkdownText(std::string_view text);
// For a field of CSV (RFC 4180): quotes it if necessary.
std::string CsvField(std::string_view text);

}  // namespace torus::study
