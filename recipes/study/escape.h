// Text put into markup, so that nothing of it is read as markup.
#pragma once

#include <string>
#include <string_view>

namespace torus::study {

// For HTML, inside of an element or of a quoted attribute; "{" too, by which a page marks places.
std::string HtmlText(std::string_view text);
// For a cell or a line of Markdown: "|", "<", "*", "_", "`" and line ends.
std::string MarkdownText(std::string_view text);
// A field of CSV (RFC 4180), quoted where it must be.
std::string CsvField(std::string_view text);

}  // namespace torus::study
