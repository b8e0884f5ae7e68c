// Page: what a study shows, as one HTML file that needs nothing else, and as text and Markdown.
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

// An SVG document that this program made (parallel::ToSvg); it goes into the page as it is.
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

// Light or dark as the reader's system is, from 360 px of width. Tables, and those of the plots,
// are there without a script too.
std::string ToHtml(const Page& page);
// Pictures are left to the HTML; plots are their tables.
std::string ToMarkdown(const Page& page);
// Paragraphs and tables alone, for a terminal.
std::string ToText(const Page& page);

// Writes NAME.html, NAME.md, and the tables as NAME.csv, NAME-2.csv, ... into `folder`, which is
// made where it is missing. Returns the path of the HTML. BrokenEnvironment where the system
// refuses.
std::string WritePage(const Page& page, const std::string& folder, const std::string& name);

}  // namespace torus::study
