//! One page: Markdown in, HTML out, with what the navigation and the search need to know of it.

use std::collections::BTreeMap;
use std::fmt::Write as _;
use std::path::{Path, PathBuf};

use pulldown_cmark::{CodeBlockKind, CowStr, Event, HeadingLevel, Options, Parser, Tag, TagEnd, html};

use super::{address, is_page, resolved, way_up};
use crate::tidy::anchor;

/// A page as HTML.
pub(super) struct Page {
    pub(super) title: String,
    pub(super) html: String,
    /// Anchor and text of each heading of the second level.
    pub(super) headings: Vec<(String, String)>,
    pub(super) parts: Vec<Part>,
    targets: Vec<PathBuf>,
}

/// What is under one heading, as plain text for the search.
pub(super) struct Part {
    pub(super) anchor: String,
    pub(super) heading: String,
    pub(super) text: String,
}

impl Page {
    /// The page at `path` of the tree. A link to what `there` does not know stays text: a folder has no page.
    pub(super) fn new(path: &Path, text: &str, there: &dyn Fn(&Path) -> bool) -> Self {
        let parser = Parser::new_ext(text, Options::ENABLE_TABLES | Options::ENABLE_STRIKETHROUGH);
        let mut writer = Writer {
            path,
            there,
            events: Vec::new(),
            anchors: BTreeMap::new(),
            heading: None,
            page: Page {
                title: String::new(),
                html: String::new(),
                headings: Vec::new(),
                parts: vec![Part { anchor: String::new(), heading: String::new(), text: String::new() }],
                targets: Vec::new(),
            },
        };
        let mut code = None;
        let mut dropped = Vec::new();
        for event in parser {
            writer.event(event, &mut code, &mut dropped);
        }
        html::push_html(&mut writer.page.html, writer.events.into_iter());
        writer.page
    }

    /// The files of the tree that it leads to.
    pub(super) fn targets(&self) -> impl Iterator<Item = PathBuf> + '_ {
        self.targets.iter().cloned()
    }
}

struct Writer<'a> {
    path: &'a Path,
    there: &'a dyn Fn(&Path) -> bool,
    events: Vec<Event<'a>>,
    /// How often each anchor was made.
    anchors: BTreeMap<String, usize>,
    /// The heading that is open: its level, its text, and where its events begin.
    heading: Option<(HeadingLevel, String, usize)>,
    page: Page,
}

impl<'a> Writer<'a> {
    fn event(&mut self, event: Event<'a>, code: &mut Option<(String, String)>, dropped: &mut Vec<bool>) {
        match event {
            Event::Start(Tag::CodeBlock(kind)) => {
                let language = match &kind {
                    CodeBlockKind::Fenced(words) => words.split([' ', ',']).next().unwrap_or("").to_string(),
                    CodeBlockKind::Indented => String::new(),
                };
                *code = Some((language, String::new()));
            }
            Event::End(TagEnd::CodeBlock) => {
                if let Some((language, text)) = code.take() {
                    self.read(&text);
                    self.events.push(Event::Html(block(&language, &text).into()));
                }
            }
            Event::Text(text) if code.is_some() => {
                if let Some((_, block)) = code.as_mut() {
                    block.push_str(&text);
                }
            }
            Event::Start(Tag::Heading { level, .. }) => {
                self.heading = Some((level, String::new(), self.events.len()));
            }
            Event::End(TagEnd::Heading(_)) => self.close_heading(),
            Event::Start(Tag::Table(columns)) => {
                self.events.push(Event::Html("<div class=\"table\">".into()));
                self.events.push(Event::Start(Tag::Table(columns)));
            }
            Event::End(TagEnd::Table) => {
                self.events.push(Event::End(TagEnd::Table));
                self.events.push(Event::Html("</div>\n".into()));
            }
            Event::Start(Tag::Link { link_type, dest_url, title, id }) => {
                let link = self.link(&dest_url);
                dropped.push(link.is_none());
                if let Some(dest_url) = link {
                    self.events.push(Event::Start(Tag::Link { link_type, dest_url, title, id }));
                }
            }
            Event::End(TagEnd::Link) => {
                if dropped.pop() == Some(false) {
                    self.events.push(Event::End(TagEnd::Link));
                }
            }
            Event::Start(Tag::Image { link_type, dest_url, title, id }) => {
                self.page.targets.push(resolved(self.path, &dest_url));
                self.events.push(Event::Start(Tag::Image { link_type, dest_url, title, id }));
            }
            other => {
                match &other {
                    Event::Text(text) | Event::Code(text) => self.read(text),
                    Event::SoftBreak | Event::HardBreak | Event::End(_) => self.read(" "),
                    _ => {}
                }
                self.events.push(other);
            }
        }
    }

    /// Text for the search, or of the heading that is open.
    fn read(&mut self, text: &str) {
        match &mut self.heading {
            Some((_, heading, _)) => heading.push_str(text),
            None => {
                if let Some(part) = self.page.parts.last_mut() {
                    part.text.push_str(text);
                }
            }
        }
    }

    fn close_heading(&mut self) {
        let Some((level, text, from)) = self.heading.take() else { return };
        let text = text.trim().to_string();
        let mut id = anchor(&text);
        let count = self.anchors.entry(id.clone()).or_insert(0);
        *count += 1;
        if *count > 1 {
            let _ = write!(id, "-{}", *count - 1);
        }
        let inside = self.events.split_off(from);
        let open = format!("<{level} id=\"{id}\">");
        self.events.push(Event::Html(open.into()));
        self.events.extend(inside);
        let close = format!(
            " <a class=\"here\" href=\"#{id}\" aria-label=\"link to this heading\">#</a></{level}>\n"
        );
        self.events.push(Event::Html(close.into()));
        if level == HeadingLevel::H1 && self.page.title.is_empty() {
            self.page.title.clone_from(&text);
        }
        if level == HeadingLevel::H2 {
            self.page.headings.push((id.clone(), text.clone()));
        }
        self.page.parts.push(Part { anchor: id, heading: text, text: String::new() });
    }

    /// The link in the site; none for what has no page there.
    fn link(&mut self, target: &str) -> Option<CowStr<'a>> {
        if target.contains("://") || target.starts_with(['#']) || target.starts_with("mailto:") {
            return Some(target.to_string().into());
        }
        let (file, fragment) = target
            .split_once('#')
            .map_or((target, String::new()), |(file, fragment)| (file, format!("#{fragment}")));
        let path = resolved(self.path, file);
        if !(self.there)(&path) {
            return None;
        }
        self.page.targets.push(path.clone());
        if !is_page(&path) {
            return Some(target.to_string().into());
        }
        Some(format!("{}{}{fragment}", way_up(self.path), address(&path).display()).into())
    }
}

/// A block of code; what is typed in a terminal stands out from what is answered.
fn block(language: &str, text: &str) -> String {
    let mut out = format!("<pre class=\"{}\"><code>", escape(language));
    let mut continued = false;
    for line in text.lines() {
        let typed = language == "console" && (continued || line.starts_with("$ "));
        continued = typed && line.ends_with('\\');
        let line = escape(line);
        let _ = if typed { writeln!(out, "<b>{line}</b>") } else { writeln!(out, "{line}") };
    }
    out.push_str("</code></pre>\n");
    out
}

/// Text as HTML has it.
pub(super) fn escape(text: &str) -> String {
    text.replace('&', "&amp;").replace('<', "&lt;").replace('>', "&gt;").replace('"', "&quot;")
}

#[cfg(test)]
mod tests {
    use super::*;

    fn page(text: &str) -> Page {
        Page::new(Path::new("docs/a.md"), text, &|path| path != Path::new("docs/folder"))
    }

    #[test]
    fn links_lead_where_the_site_has_the_page() {
        let page = page(
            "[b](b.md#x) [top](../README.md) [run](../bench/run.json) [f](folder/) [w](https://x.org/y.md) [h](#here)",
        );
        for link in ["../docs/b.html#x", "../index.html", "../bench/run.json", "https://x.org/y.md", "#here"]
        {
            assert!(page.html.contains(&format!("href=\"{link}\"")), "{link}: {}", page.html);
        }
        assert!(!page.html.contains("folder"));
        assert_eq!(page.targets().count(), 3);
    }

    #[test]
    fn headings_have_anchors_and_the_search_their_text() {
        let page = page("# T `x`\n\nintro\n\n## Same\n\none *two*\n\n## Same\n\n```sh\na <b> c\n```\n");
        assert_eq!(page.title, "T x");
        assert!(
            page.html.contains("<h2 id=\"same\">") && page.html.contains("<h2 id=\"same-1\">"),
            "{}",
            page.html
        );
        assert!(page.html.contains("a &lt;b&gt; c"));
        let found: Vec<(&str, &str)> =
            page.parts.iter().map(|part| (part.anchor.as_str(), part.text.trim())).collect();
        assert_eq!(found, [("", ""), ("t-x", "intro"), ("same", "one two"), ("same-1", "a <b> c")]);
    }

    #[test]
    fn tables_can_be_moved_and_terminals_show_what_is_typed() {
        let page = page("| a |\n|---|\n| b |\n\n```console\n$ one \\\n  two\nanswer\n```\n");
        assert!(page.html.contains("<div class=\"table\"><table>"), "{}", page.html);
        assert!(page.html.contains("<b>$ one \\</b>\n<b>  two</b>\nanswer\n"), "{}", page.html);
    }
}
