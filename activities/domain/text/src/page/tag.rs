//! The names of elements and attributes that extraction looks at; every other one is `Other`.

macro_rules! names {
    ($(#[$doc:meta])* $kind:ident { $($variant:ident = $name:literal,)* }) => {
        $(#[$doc])*
        #[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash)]
        #[repr(u8)]
        pub(crate) enum $kind {
            $($variant,)*
            Other,
        }

        impl $kind {
            /// The value for a name in lower case, as the parser gives it.
            pub(crate) fn of(name: &str) -> Self {
                match name {
                    $($name => Self::$variant,)*
                    _ => Self::Other,
                }
            }
        }
    };
}

names! {
    /// An element's name, or that the node is text.
    Tag {
        Text = "#text", Document = "#document",
        Html = "html", Head = "head", Body = "body", Title = "title", Meta = "meta", Link = "link", Base = "base",
        Script = "script", Style = "style", Template = "template", Noscript = "noscript",
        Article = "article", Main = "main", Section = "section", Nav = "nav", Aside = "aside", Header = "header",
        Footer = "footer", Address = "address", Search = "search", Hgroup = "hgroup",
        Div = "div", P = "p", Pre = "pre", Blockquote = "blockquote", Center = "center",
        H1 = "h1", H2 = "h2", H3 = "h3", H4 = "h4", H5 = "h5", H6 = "h6",
        Ul = "ul", Ol = "ol", Menu = "menu", Dir = "dir", Li = "li", Dl = "dl", Dt = "dt", Dd = "dd",
        Table = "table", Caption = "caption", Thead = "thead", Tbody = "tbody", Tfoot = "tfoot", Tr = "tr", Td = "td",
        Th = "th", Colgroup = "colgroup", Col = "col",
        Figure = "figure", Figcaption = "figcaption", Picture = "picture", Img = "img", Hr = "hr", Br = "br", Wbr = "wbr",
        Details = "details", Summary = "summary", Dialog = "dialog",
        Form = "form", Fieldset = "fieldset", Legend = "legend", Label = "label", Input = "input", Button = "button",
        Select = "select", Optgroup = "optgroup", Option = "option", Datalist = "datalist", Textarea = "textarea",
        Output = "output", Progress = "progress", Meter = "meter",
        A = "a", Area = "area", Span = "span", B = "b", Strong = "strong", I = "i", Em = "em", U = "u", S = "s", Strike = "strike",
        Del = "del", Ins = "ins", Code = "code", Kbd = "kbd", Samp = "samp", Var = "var", Tt = "tt", Sub = "sub",
        Sup = "sup", Small = "small", Mark = "mark", Q = "q", Cite = "cite", Abbr = "abbr", Time = "time",
        Font = "font", Listing = "listing", Xmp = "xmp", Plaintext = "plaintext",
        Iframe = "iframe", Frame = "frame", Frameset = "frameset", Noframes = "noframes", Noembed = "noembed", Object = "object",
        Embed = "embed", Applet = "applet", Audio = "audio", Video = "video", Source = "source", Track = "track",
        Canvas = "canvas", Map = "map", Svg = "svg", Math = "math", Annotation = "annotation",
        AnnotationXml = "annotation-xml", Rt = "rt", Rp = "rp",
    }
}

names! {
    /// An attribute's name.
    Name {
        Id = "id", Class = "class", Href = "href", Src = "src", Rel = "rel", Role = "role", Style = "style",
        Hidden = "hidden", AriaHidden = "aria-hidden", AriaModal = "aria-modal", Lang = "lang", XmlLang = "xml:lang",
        Named = "name",
        Property = "property", Content = "content", HttpEquiv = "http-equiv", Charset = "charset", Type = "type",
        Itemprop = "itemprop", Itemtype = "itemtype", Itemscope = "itemscope", Datetime = "datetime", Start = "start",
        Reversed = "reversed", Value = "value", Alt = "alt", Title = "title", Open = "open",
        DataLine = "data-line-number", DataLang = "data-lang", DataLanguage = "data-language",
        ShadowRoot = "shadowrootmode", Cite = "cite", AriaLabel = "aria-label",
    }
}

impl Tag {
    /// Whether a browser would start a new line before and behind the element.
    pub(crate) fn is_block(self) -> bool {
        use Tag::*;
        matches!(
            self,
            Html | Body
                | Article
                | Main
                | Section
                | Nav
                | Aside
                | Header
                | Footer
                | Address
                | Search
                | Hgroup
                | Div
                | P
                | Pre
                | Blockquote
                | Center
                | H1
                | H2
                | H3
                | H4
                | H5
                | H6
                | Ul
                | Ol
                | Menu
                | Dir
                | Li
                | Dl
                | Dt
                | Dd
                | Table
                | Caption
                | Thead
                | Tbody
                | Tfoot
                | Tr
                | Td
                | Th
                | Figure
                | Figcaption
                | Hr
                | Details
                | Summary
                | Dialog
                | Form
                | Fieldset
                | Legend
                | Listing
                | Xmp
                | Plaintext
                | Optgroup
                | Option
                | Template
                | Document
        )
    }

    /// Whether an element without line breaks around it stands apart from the words beside it all the same.
    pub(crate) fn is_apart(self) -> bool {
        use Tag::*;
        matches!(
            self,
            Button
                | Label
                | Input
                | Select
                | Textarea
                | Img
                | Picture
                | Iframe
                | Object
                | Embed
                | Video
                | Audio
                | Canvas
                | Svg
                | Output
                | Progress
                | Meter
                | Map
        )
    }

    /// The level of a heading, 1 to 6.
    pub(crate) fn heading(self) -> Option<u8> {
        (Tag::H1..=Tag::H6).contains(&self).then(|| self as u8 - Tag::H1 as u8 + 1)
    }

    /// Whether white space inside is kept as it stands.
    pub(crate) fn is_preformatted(self) -> bool {
        matches!(self, Tag::Pre | Tag::Listing | Tag::Xmp | Tag::Plaintext)
    }

    /// Whether what is inside is never text of the page.
    pub(crate) fn is_never_text(self) -> bool {
        use Tag::*;
        matches!(
            self,
            Head | Title
                | Meta
                | Link
                | Base
                | Script
                | Style
                | Iframe
                | Frame
                | Frameset
                | Noframes
                | Noembed
                | Object
                | Embed
                | Applet
                | Audio
                | Video
                | Source
                | Track
                | Canvas
                | Map
                | Svg
                | Datalist
                | Textarea
                | Input
                | Select
                | Optgroup
                | Option
                | Progress
                | Meter
                | Colgroup
                | Col
                | Annotation
                | AnnotationXml
                | Rp
        )
    }
}
