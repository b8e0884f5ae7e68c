// Text that stays within a line, whatever a file's name or a foreign message brings along.
#pragma once

#include <string>
#include <string_view>

namespace torus {

// With each control character (also a terminal's) written out: "a\nb" as a, backslash, n, b, and
// others by their number, "\x1b". All other bytes stay.
std::string OneLine(std::string_view text);

}  // namespace torus
