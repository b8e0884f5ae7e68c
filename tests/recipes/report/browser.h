// Pages opened by a browser without a window, for tests.
#pragma once

#include <gtest/gtest.h>
#include <unistd.h>

#include <cstdlib>
#include <fstream>
#include <iostream>
#include <string>

#include "tests/testing/command.h"

namespace torus::recipes::testing {

// What a command says; nothing where it fails.
inline std::string Output(const std::string& command) {
  const torus::testing::Outcome outcome = torus::testing::RunCommand(command);
  return outcome.status == 0 ? outcome.output : "";
}

// Skips the test, in so many words, where there is no browser.
class Page : public ::testing::Test {
 protected:
  void SetUp() override {
    if (!Output("command -v chromium").empty()) return;
    std::cerr << "\n*** chromium is not on PATH: the scripts of the pages are NOT tested\n\n";
    GTEST_SKIP() << "chromium is not on PATH: the scripts of the pages are not tested";
  }

  // The page's markup when its scripts have run; what they log goes to log().
  std::string Opened(const std::string& html) {
    const std::string folder = ::testing::TempDir() + "/page" + std::to_string(getpid());
    std::ofstream(folder + ".html") << html;
    log_path_ = folder + ".log";
    return Output(
        "HOME=" + folder +
        " chromium --headless --no-sandbox --disable-gpu --disable-dev-shm-usage --no-first-run "
        "--disable-background-networking --disable-crash-reporter --enable-logging=stderr "
        "--window-size=1200,2000 --virtual-time-budget=3000 --user-data-dir=" +
        folder + " --dump-dom file://" + folder + ".html 2> " + log_path_);
  }
  std::string log() const {
    std::ifstream file(log_path_);
    return {std::istreambuf_iterator<char>(file), {}};
  }

 private:
  std::string log_path_;
};

inline size_t Count(const std::string& text, const std::string& what) {
  size_t count = 0;
  for (size_t at = 0; (at = text.find(what, at)) != std::string::npos; at += what.size()) ++count;
  return count;
}

// Between the element that opens with `id` and the next `end`.
inline std::string Part(const std::string& page, const std::string& id, const std::string& end) {
  const size_t begin = page.find("id=\"" + id + "\"");
  if (begin == std::string::npos) return "";
  return page.substr(begin, page.find(end, begin) - begin);
}

}  // namespace torus::recipes::testing
