// Copies headers, and all of the project's that they include, as they are installed: below a folder
// "torus", which their includes then name.
//   collect_headers OUT LIBRARIES HEADER...
// Refuses a header that includes one of another library, unless LIBRARIES names its folder: those
// are what users need to build. Folders are separated by commas.
#include <algorithm>
#include <filesystem>
#include <fstream>
#include <iostream>
#include <regex>
#include <set>
#include <stdexcept>
#include <string>

namespace fs = std::filesystem;

namespace {

const std::string kUmbrellas = "tools/install/torus/";

// The umbrella headers stand beside the folders of the tree: <torus/torus.h>.
std::string Installed(const std::string& header) {
  return "torus/" + (header.starts_with(kUmbrellas) ? header.substr(kUmbrellas.size()) : header);
}

class Collection {
 public:
  // `libraries`: "fmt,nlohmann".
  Collection(fs::path out, const std::string& libraries)
      : out_(std::move(out)), libraries_(',' + libraries + ',') {}

  void Add(const std::string& header) {
    if (!seen_.insert(header).second) return;
    std::ifstream in(header);
    if (!in) throw std::runtime_error(header + " cannot be read");
    const fs::path to = out_ / Installed(header);
    fs::create_directories(to.parent_path());
    std::ofstream copy(to);
    for (std::string line; std::getline(in, line);) copy << Rewritten(line, header) << '\n';
    if (!copy.flush()) throw std::runtime_error(to.string() + " cannot be written");
  }

 private:
  std::string Rewritten(const std::string& line, const std::string& header) {
    static const std::regex ours("\\s*#include \"([^\"]+)\".*"), others("\\s*#include <([^>]+)>.*");
    std::smatch match;
    if (std::regex_match(line, match, others)) Check(match[1], header);
    if (!std::regex_match(line, match, ours)) return line;
    const std::string included = match[1];
    Add(included);
    return "#include \"" + Installed(included) + "\"";
  }

  // Headers of the C++ library have neither extension nor folder.
  void Check(const std::string& included, const std::string& header) const {
    if (included.find_first_of("./") == std::string::npos) return;
    const std::string folder = included.substr(0, included.find('/'));
    if (libraries_.find(',' + folder + ',') == std::string::npos)
      throw std::runtime_error(header + " is public and includes <" + included +
                               ">: other libraries' headers may be those of" + libraries_);
  }

  fs::path out_;
  std::string libraries_;
  std::set<std::string> seen_;
};

}  // namespace

int main(int argc, char** argv) try {
  if (argc < 4) throw std::runtime_error("usage: collect_headers OUT LIBRARIES HEADER...");
  Collection collection(argv[1], argv[2]);
  for (int i = 3; i < argc; ++i) collection.Add(argv[i]);
} catch (const std::exception& error) {
  std::cerr << "collect_headers: " << error.what() << '\n';
  return 1;
}
