#include "recipes/study/page.h"

#include <fmt/format.h>

#include <filesystem>
#include <nlohmann/json.hpp>

#include "recipes/report/fill_page.h"
#include "recipes/study/escape.h"
#include "recipes/study/study_assets.h"
#include "runtime/error.h"
#include "runtime/io/file.h"

namespace torus::study {
namespace {

using Json = nlohmann::json;

// The JSON that study.js draws.
Json ToJson(const Plot& plot) {
  const auto axis = [](const Axis& axis) {
    return Json{{"name", HeadingOf({axis.name, axis.unit})}, {"log", axis.log}};
  };
  Json series = Json::array();
  for (const Series& one : plot.series) {
    Json points = Json::array();
    for (const Point& point : one.points) points.push_back({point.x, point.y, point.error});
    series.push_back({{"name", one.name}, {"points", points}, {"line", one.line}});
  }
  constexpr const char* kKinds[] = {"lines", "points", "bars"};
  return {{"kind", kKinds[static_cast<int>(plot.kind)]},
          {"x", axis(plot.x)},
          {"y", axis(plot.y)},
          {"categories", plot.categories},
          {"series", series}};
}

std::string HtmlNote(const std::string& note) {
  return note.empty() ? "" : fmt::format("<p class=\"note\">{}</p>\n", HtmlText(note));
}

std::string CanvasOf(const Plot& plot, size_t number) {
  return fmt::format(
      "<h3>{0}</h3>\n{1}<div class=\"chart\"><canvas id=\"plot-{2}\" role=\"img\" "
      "aria-label=\"{0}\"></canvas></div>\n<details><summary>The "
      "figures</summary>\n{3}</details>\n",
      HtmlText(plot.title), HtmlNote(plot.note), number, ToHtml(TableOf(plot)));
}

// The page's parts as HTML, and its plots as JSON.
struct Body {
  std::string html;
  Json plots = Json::array();

  void operator()(const Heading& heading) {
    html += fmt::format("</article>\n<article>\n<h2>{}</h2>\n", HtmlText(heading.text));
  }
  void operator()(const Paragraph& paragraph) {
    html += fmt::format("<p>{}</p>\n", HtmlText(paragraph.text));
  }
  void operator()(const Table& table) { html += ToHtml(table); }
  void operator()(const Plot& plot) {
    html += CanvasOf(plot, plots.size());
    plots.push_back(ToJson(plot));
  }
  void operator()(const Picture& picture) {
    TORUS_CHECK(picture.svg.find("{{") == std::string::npos, "a picture has a page's mark");
    html +=
        fmt::format("<div class=\"scroll\">{}</div>\n", picture.svg) + HtmlNote(picture.caption);
  }
};

std::string Replaced(std::string text, std::string_view mark, const std::string& with) {
  const size_t at = text.find(mark);
  TORUS_CHECK(at != std::string::npos, "a page lacks {}", mark);
  return text.replace(at, mark.size(), with);
}

struct Markdown {
  std::string text;
  void operator()(const Heading& heading) {
    text += fmt::format("## {}\n\n", MarkdownText(heading.text));
  }
  void operator()(const Paragraph& paragraph) { text += MarkdownText(paragraph.text) + "\n\n"; }
  void operator()(const Table& table) { text += ToMarkdown(table) + "\n"; }
  void operator()(const Plot& plot) { (*this)(TableOf(plot)); }
  void operator()(const Picture& picture) { text += MarkdownText(picture.caption) + "\n\n"; }
};

struct Text {
  std::string text;
  std::string heading = {};  // not yet written: a heading of plots and pictures alone is left out
  void operator()(const Heading& next) { heading = next.text + "\n\n"; }
  void operator()(const Paragraph& paragraph) { Add(paragraph.text + "\n\n"); }
  void operator()(const Table& table) { Add(ToText(table) + "\n"); }
  void Add(const std::string& part) {
    text += heading + part;
    heading.clear();
  }
  void operator()(const Plot&) {}
  void operator()(const Picture&) {}
};

void WriteFile(const std::string& path, const std::string& text) {
  io::OutputFile file(path);
  file.Write(text);
  file.Close(false);
}

}  // namespace

std::string ToHtml(const Page& page) {
  Body body;
  for (const Part& part : page.parts) std::visit(body, part);
  std::string html = Replaced(std::string(kStudyHtml), "{{TITLE}}", HtmlText(page.title));
  html = Replaced(html, "{{HEADING}}", HtmlText(page.title));
  html = Replaced(html, "{{LEAD}}", HtmlText(page.lead));
  html = Replaced(html, "{{BODY}}", body.html);
  return recipes::FillPage(html, {{"plots", body.plots}}, kStudyScript);
}

std::string ToMarkdown(const Page& page) {
  Markdown markdown{
      fmt::format("# {}\n\n{}\n\n", MarkdownText(page.title), MarkdownText(page.lead))};
  for (const Part& part : page.parts) std::visit(markdown, part);
  return markdown.text;
}

std::string ToText(const Page& page) {
  Text text{page.title + "\n\n"};
  for (const Part& part : page.parts) std::visit(text, part);
  return text.text;
}

namespace {

constexpr char kSoFar[] = "_so_far";

// The files of a page with tables of any number.
void RemovePage(const std::string& base) {
  std::error_code ignored;
  for (const char* ending : {".html", ".md", ".csv"})
    std::filesystem::remove(base + ending, ignored);
  for (int table = 2; std::filesystem::remove(fmt::format("{}-{}.csv", base, table), ignored);
       ++table) {
  }
}

std::string Write(const Page& page, const std::string& folder, const std::string& name) {
  std::error_code error;
  std::filesystem::create_directories(folder, error);
  if (error) Throw<BrokenEnvironment>(folder, "cannot make the folder: {}", error.message());
  const std::string base = folder + "/" + name;
  int tables = 0;
  for (const Part& part : page.parts)
    if (const Table* table = std::get_if<Table>(&part))
      WriteFile(base + (++tables == 1 ? "" : fmt::format("-{}", tables)) + ".csv", ToCsv(*table));
  WriteFile(base + ".md", ToMarkdown(page));
  WriteFile(base + ".html", ToHtml(page));
  return base + ".html";
}

}  // namespace

std::string WritePage(const Page& page, const std::string& folder, const std::string& name) {
  const std::string path = Write(page, folder, name);
  RemovePage(folder + "/" + name + kSoFar);
  return path;
}

std::string WritePageSoFar(const Page& page, const std::string& folder, const std::string& name) {
  RemovePage(folder + "/" + name + kSoFar);
  return Write(page, folder, name + kSoFar);
}

}  // namespace torus::study
