// sim/base/cell_text.h: a name as one cell of a table in a file, for programs, spreadsheets and Markdown.
#pragma once

#include <string>
#include <string_view>

namespace sim::base {

// Quoted where RFC 4180 wants it (comma, quote, line break, blanks at an end). A spreadsheet takes a
// cell that begins with = + - or @ for a formula, so such a text gets an apostrophe before it, which a
// spreadsheet does not show; one that begins with an apostrophe gets another, so that text_of_cell() can
// tell them apart. What is a number as a whole is left alone.
std::string csv_cell(std::string_view text);

// What csv_cell() was given, from a cell without its quotes.
std::string text_of_cell(std::string_view cell);

// A name as text in a cell of a Markdown table: what would end the cell, or be formatting or HTML, is
// escaped.
std::string markdown_cell(std::string_view text);

}  // namespace sim::base
