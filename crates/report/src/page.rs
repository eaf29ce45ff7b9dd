//! One self-contained page: no scripts, nothing loaded from anywhere, light or dark as the
//! reader's screen is, and readable on a telephone.

use crate::plot::CrossTable;
use crate::svg::{Figure, Theme, declarations};
use crate::table::Table;
use crate::text::escape;
use std::fmt::Write as _;

const STYLE: &str = include_str!("page.css");

/// The widths that figures are drawn for: a column on a desk, and a telephone.
const WIDE: f64 = 760.0;
const NARROW: f64 = 350.0;
const BOARD: f64 = 400.0;
const SMALL_BOARD: f64 = 260.0;

/// From this many sections on, a page begins with a list of them.
const LISTED: usize = 3;

/// A page that is being written.
#[derive(Clone, Debug, Default)]
pub struct Page {
    title: String,
    lead: String,
    sections: Vec<Section>,
    footer: Vec<(String, String)>,
}

/// A part of a page under a heading of its own.
#[derive(Clone, Debug, Default)]
pub struct Section {
    title: String,
    html: String,
}

impl Page {
    /// An empty page.
    pub fn new(title: impl Into<String>) -> Self {
        Self { title: title.into(), ..Self::default() }
    }

    /// Sets the sentence or two below the title that say what the page shows.
    pub fn lead(&mut self, text: impl Into<String>) -> &mut Self {
        self.lead = text.into();
        self
    }

    /// Begins a section, and returns it to be filled.
    pub fn section(&mut self, title: impl Into<String>) -> &mut Section {
        let place = self.sections.len();
        self.sections.push(Section { title: title.into(), html: String::new() });
        &mut self.sections[place]
    }

    /// Adds a fact to the foot of the page, such as the command, the seed or the version.
    pub fn footer(&mut self, name: impl Into<String>, value: impl Into<String>) -> &mut Self {
        self.footer.push((name.into(), value.into()));
        self
    }

    /// The whole page.
    #[must_use]
    pub fn to_html(&self) -> String {
        let title = escape(&self.title);
        let mut out = format!(
            "<!DOCTYPE html>\n<html lang=\"en-GB\">\n<head>\n<meta charset=\"utf-8\">\n\
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
        if self.sections.len() >= LISTED {
            out.push_str("<nav aria-label=\"Sections\"><ul>\n");
            for (place, section) in self.sections.iter().enumerate() {
                let (place, title) = (place + 1, escape(&section.title));
                let _ = writeln!(out, "<li><a href=\"#s{place}\">{title}</a></li>");
            }
            out.push_str("</ul></nav>\n");
        }
        out.push_str("</header>\n<main>\n");
        for (place, section) in self.sections.iter().enumerate() {
            let (place, title) = (place + 1, escape(&section.title));
            let _ = writeln!(out, "<section id=\"s{place}\">\n<h2>{title}</h2>");
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

    /// Adds a remark that should not be missed, such as a departure from a source.
    pub fn note(&mut self, text: impl AsRef<str>) -> &mut Self {
        let _ = writeln!(self.html, "<p class=\"note\">{}</p>", escape(text.as_ref()));
        self
    }

    /// Adds a list of short texts; `numbered` gives each a number to refer to.
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

    /// Adds the few figures that matter most, large: each a name, its value and a remark.
    pub fn key_figures<S: AsRef<str>>(
        &mut self,
        facts: impl IntoIterator<Item = (S, S, S)>,
    ) -> &mut Self {
        self.html.push_str("<dl class=\"glance\">\n");
        for (name, value, remark) in facts {
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

    /// Adds text as it stands, such as a command, a transcript or a log.
    pub fn code(&mut self, text: impl AsRef<str>) -> &mut Self {
        let _ = writeln!(self.html, "<pre tabindex=\"0\">{}</pre>", escape(text.as_ref()));
        self
    }

    /// Adds a table; one that is too wide for the screen scrolls by itself.
    pub fn table(&mut self, table: &Table) -> &mut Self {
        self.scrolling("Table", &table.to_html())
    }

    /// Adds the cross table of a league.
    pub fn cross_table(&mut self, table: &CrossTable) -> &mut Self {
        self.scrolling("Cross table", &table.to_html())
    }

    fn scrolling(&mut self, name: &str, html: &str) -> &mut Self {
        // A region that scrolls must be reachable by keyboard, and so needs a name.
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

    /// Adds small figures side by side, as many in a row as there is room for, with a caption.
    pub fn gallery<'a>(
        &mut self,
        figures: impl IntoIterator<Item = &'a dyn Figure>,
        caption: impl AsRef<str>,
    ) -> &mut Self {
        self.html.push_str("<figure>\n<div class=\"gallery\">\n");
        for figure in figures {
            let drawn = figure.draw(if figure.reflows() { NARROW } else { SMALL_BOARD });
            self.html.push_str(&drawn.inline());
        }
        self.html.push_str("</div>\n");
        self.caption(caption.as_ref());
        self.html.push_str("</figure>\n");
        self
    }

    /// Adds a part that is folded away under its summary.
    pub fn details(
        &mut self,
        summary: impl AsRef<str>,
        fill: impl FnOnce(&mut Section),
    ) -> &mut Self {
        let mut inside = Section::default();
        fill(&mut inside);
        let summary = escape(summary.as_ref());
        let _ = writeln!(
            self.html,
            "<details>\n<summary>{summary}</summary>\n{}</details>",
            inside.html
        );
        self
    }

    fn draw(&mut self, figure: &dyn Figure) {
        if !figure.reflows() {
            let drawn = figure.draw(BOARD).inline();
            let _ = write!(self.html, "<div class=\"board\">\n{drawn}</div>\n");
            return;
        }
        // Both drawings are in the page and its style shows the one that suits the screen, so
        // that letters keep their size; what is not displayed is not read aloud either.
        let (wide, narrow) = (figure.draw(WIDE).inline(), figure.draw(NARROW).inline());
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
