// Page: the results of a study, as one self-contained HTML file, as text and as Markdown.
#pragma once

#include <string>
#include <variant>
#include <vector>

#include "recipes/study/plot.h"
#include "recipes/study/table.h"

namespace torus::study {

// Begins a part of the page.
struct Heading {
  std::string text;
};

struct Paragraph {
  std::string text;
};

// An SVG document that this program made (parallel::ToSvg). It is put into the page unescaped.
struct Picture {
  std::string svg;
  std::string caption;
};

using Part = std::variant<Heading, Paragraph, Table, Plot, Picture>;

struct Page {
  std::string title;
  std::string lead;  // a sentence below the title
  std::vector<Part> parts;
};

// Light or dark like the reader's system; readable from 360 px of width. Tables, and the plots as
// tables, are shown without scripts too.
std::string ToHtml(const Page& page);
// Leaves out pictures, and shows plots as tables.
std::string ToMarkdown(const Page& page);
// Only the paragraphs and tables, for a terminal.
std::string ToText(const Page& page);

// Writes NAME.html, NAME.md, and the tables as NAME.csv, NAME-2.csv, ... into `folder`, which is
// created if missing. Returns the path of the HTML file. Throws BrokenEnvironment if the system
// refuses. Removes the page of this name that WritePageSoFar has written.
std::string WritePage(const Page& page, const std::string& folder, const std::string& name);
// The same of a study that was ended early, as NAME_so_far: the page of one that came to its end
// stays as it is.
std::string WritePageSoFar(const Page& page, const std::string& folder, const std::string& name);

}  // namespace torus::study
