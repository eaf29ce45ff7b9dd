//! Self-contained HTML pages: no scripts, no external resources, light and dark themes, responsive
//! layout.

use crate::plot::CrossTable;
use crate::svg::{Figure, Theme, declarations};
use crate::table::Table;
use crate::text::escape;
use std::fmt::Write as _;

/// The style sheet of every page.
const STYLE: &str = include_str!("page.css");

/// Width in pixels of a figure on a wide screen.
const WIDE_FIGURE: f64 = 760.0;
/// Width in pixels of a figure on a narrow screen.
const NARROW_FIGURE: f64 = 350.0;
/// Width in pixels of a board.
const BOARD: f64 = 400.0;
/// Width in pixels of a board in a gallery.
const SMALL_BOARD: f64 = 260.0;

/// Minimum number of sections for a table of contents.
const MIN_SECTIONS_FOR_CONTENTS: usize = 3;

/// An HTML page.
#[derive(Clone, Debug, Default)]
pub struct Page {
    title: String,
    lead: String,
    sections: Vec<Section>,
    footer: Vec<(String, String)>,
}

/// A section of a page.
#[derive(Clone, Debug, Default)]
pub struct Section {
    title: String,
    html: String,
}

impl Page {
    /// Creates an empty page.
    pub fn new(title: impl Into<String>) -> Self {
        Self { title: title.into(), ..Self::default() }
    }

    /// Sets the lead paragraph below the title.
    pub fn lead(&mut self, text: impl Into<String>) -> &mut Self {
        self.lead = text.into();
        self
    }

    /// Adds a section and returns it.
    pub fn section(&mut self, title: impl Into<String>) -> &mut Section {
        let index = self.sections.len();
        self.sections.push(Section { title: title.into(), html: String::new() });
        &mut self.sections[index]
    }

    /// Adds an entry to the footer, such as the command, the seed or the version.
    pub fn footer(&mut self, name: impl Into<String>, value: impl Into<String>) -> &mut Self {
        self.footer.push((name.into(), value.into()));
        self
    }

    /// Returns the page as HTML.
    #[must_use]
    pub fn to_html(&self) -> String {
        let title = escape(&self.title);
        let mut out = format!(
            "<!DOCTYPE html>\n<html lang=\"en\">\n<head>\n<meta charset=\"utf-8\">\n\
             <meta name=\"viewport\" content=\"width=device-width,initial-scale=1\">\n\
             <meta name=\"color-scheme\" content=\"light dark\">\n\
             <meta http-equiv=\"Content-Security-Policy\" \
             content=\"default-src 'none'; style-src 'unsafe-inline'\">\n\
             <title>{title}</title>\n<style>\n:root{{{}}}\n\
             @media(prefers-color-scheme:dark){{:root{{{}}}}}\n{STYLE}</style>\n</head>\n<body>\n\
             <header>\n<h1>{title}</h1>\n",
            declarations(Theme::Light),
            declarations(Theme::Dark)
        );
        if !self.lead.is_empty() {
            let _ = writeln!(out, "<p class=\"lead\">{}</p>", escape(&self.lead));
        }
        if self.sections.len() >= MIN_SECTIONS_FOR_CONTENTS {
            out.push_str("<nav aria-label=\"Sections\"><ul>\n");
            for (index, section) in self.sections.iter().enumerate() {
                let (number, title) = (index + 1, escape(&section.title));
                let _ = writeln!(out, "<li><a href=\"#s{number}\">{title}</a></li>");
            }
            out.push_str("</ul></nav>\n");
        }
        out.push_str("</header>\n<main>\n");
        for (index, section) in self.sections.iter().enumerate() {
            let (number, title) = (index + 1, escape(&section.title));
            let _ = writeln!(out, "<section id=\"s{number}\">\n<h2>{title}</h2>");
            out.push_str(&section.html);
            out.push_str("</section>\n");
        }
        out.push_str("</main>\n");
        if !self.footer.is_empty() {
            out.push_str("<footer>\n<dl>\n");
            for (name, value) in &self.footer {
                let (name, value) = (escape(name), escape(value));
                let _ = writeln!(out, "<div><dt>{name}</dt><dd>{value}</dd></div>");
            }
            out.push_str("</dl>\n</footer>\n");
        }
        out.push_str("</body>\n</html>\n");
        out
    }
}

impl Section {
    /// Adds a paragraph of plain text.
    pub fn paragraph(&mut self, text: impl AsRef<str>) -> &mut Self {
        let _ = writeln!(self.html, "<p>{}</p>", escape(text.as_ref()));
        self
    }

    /// Adds a highlighted note, such as a deviation from a paper.
    pub fn note(&mut self, text: impl AsRef<str>) -> &mut Self {
        let _ = writeln!(self.html, "<p class=\"note\">{}</p>", escape(text.as_ref()));
        self
    }

    /// Adds a list of short texts, optionally numbered.
    pub fn list<S: AsRef<str>>(
        &mut self,
        numbered: bool,
        items: impl IntoIterator<Item = S>,
    ) -> &mut Self {
        let tag = if numbered { "ol" } else { "ul" };
        let _ = writeln!(self.html, "<{tag}>");
        for item in items {
            let _ = writeln!(self.html, "<li>{}</li>", escape(item.as_ref()));
        }
        let _ = writeln!(self.html, "</{tag}>");
        self
    }

    /// Adds key figures in large type, each with a name, a value and a remark.
    pub fn key_figures<S: AsRef<str>>(
        &mut self,
        figures: impl IntoIterator<Item = (S, S, S)>,
    ) -> &mut Self {
        self.html.push_str("<dl class=\"key-figures\">\n");
        for (name, value, remark) in figures {
            let (name, value) = (escape(name.as_ref()), escape(value.as_ref()));
            let _ = write!(self.html, "<div><dt>{name}</dt><dd>{value}");
            if !remark.as_ref().is_empty() {
                let _ = write!(self.html, "<small>{}</small>", escape(remark.as_ref()));
            }
            self.html.push_str("</dd></div>\n");
        }
        self.html.push_str("</dl>\n");
        self
    }

    /// Adds preformatted text, such as a command, a transcript or a log.
    pub fn code(&mut self, text: impl AsRef<str>) -> &mut Self {
        let _ = writeln!(self.html, "<pre tabindex=\"0\">{}</pre>", escape(text.as_ref()));
        self
    }

    /// Adds a table, which scrolls horizontally if it is too wide.
    pub fn table(&mut self, table: &Table) -> &mut Self {
        self.push_scrollable("Table", &table.to_html())
    }

    /// Adds the cross table of a league.
    pub fn cross_table(&mut self, table: &CrossTable) -> &mut Self {
        self.push_scrollable("Cross table", &table.to_html())
    }

    fn push_scrollable(&mut self, name: &str, html: &str) -> &mut Self {
        // A scrollable region must be focusable by keyboard and needs a label.
        let open =
            format!("<div class=\"scroll\" tabindex=\"0\" role=\"region\" aria-label=\"{name}\">");
        let _ = writeln!(self.html, "{open}\n{html}</div>");
        self
    }

    /// Adds a figure with a caption, which may be empty.
    pub fn figure(&mut self, figure: &dyn Figure, caption: impl AsRef<str>) -> &mut Self {
        self.html.push_str("<figure>\n");
        self.draw(figure);
        self.caption(caption.as_ref());
        self.html.push_str("</figure>\n");
        self
    }

    /// Adds a grid of small figures with a caption.
    pub fn gallery<'a>(
        &mut self,
        figures: impl IntoIterator<Item = &'a dyn Figure>,
        caption: impl AsRef<str>,
    ) -> &mut Self {
        self.html.push_str("<figure>\n<div class=\"gallery\">\n");
        for figure in figures {
            let drawn = figure.draw(if figure.reflows() { NARROW_FIGURE } else { SMALL_BOARD });
            self.html.push_str(&drawn.inline());
        }
        self.html.push_str("</div>\n");
        self.caption(caption.as_ref());
        self.html.push_str("</figure>\n");
        self
    }

    /// Adds a collapsible block with a summary; `fill` adds its contents.
    pub fn details(
        &mut self,
        summary: impl AsRef<str>,
        fill: impl FnOnce(&mut Section),
    ) -> &mut Self {
        let mut inner = Section::default();
        fill(&mut inner);
        let summary = escape(summary.as_ref());
        let _ = writeln!(
            self.html,
            "<details>\n<summary>{summary}</summary>\n{}</details>",
            inner.html
        );
        self
    }

    fn draw(&mut self, figure: &dyn Figure) {
        if !figure.reflows() {
            let drawn = figure.draw(BOARD).inline();
            let _ = write!(self.html, "<div class=\"board\">\n{drawn}</div>\n");
            return;
        }
        // The page contains both drawings, and CSS shows the one that fits the screen, so that the
        // font size stays constant. Screen readers skip the hidden one.
        let (wide, narrow) =
            (figure.draw(WIDE_FIGURE).inline(), figure.draw(NARROW_FIGURE).inline());
        let _ = write!(
            self.html,
            "<div class=\"wide\">\n{wide}</div>\n<div class=\"narrow\">\n{narrow}</div>\n"
        );
    }

    fn caption(&mut self, caption: &str) {
        if !caption.is_empty() {
            let _ = writeln!(self.html, "<figcaption>{}</figcaption>", escape(caption));
        }
    }
}
