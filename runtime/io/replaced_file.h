// A file that is written anew as a whole.
#pragma once

#include <functional>
#include <string>

namespace torus::io {

// `write` makes a file of the name that it is given, beside `path`, and that file then takes the
// place of the one at `path`, where a link leads if it is one. A kill in between, or an exception
// of `write`, leaves the old file as it was. BrokenEnvironment where the new one cannot be put in
// place.
void ReplaceFile(const std::string& path, const std::function<void(const std::string&)>& write);

}  // namespace torus::io
