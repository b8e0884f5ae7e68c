// Text from a graded program, or of its name, as a terminal and an XML file may have it.
#pragma once

#include <string>
#include <string_view>

namespace torus::tools::labs {

// Replaces by '?' what a terminal may obey and what XML 1.0 does not allow: control characters but
// newline and tab (also those of U+0080 to U+009F), U+FFFE and U+FFFF, and bytes that are not
// UTF-8.
std::string PlainText(std::string_view text);

// The same, with each line but the first moved in behind a bar: none can be taken for a line of the
// grader's own.
std::string PlainParagraph(std::string_view text);

}  // namespace torus::tools::labs
