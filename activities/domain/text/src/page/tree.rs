//! A parsed page as one flat array in document order.
//!
//! A node knows its parent and where its subtree ends, so that every walk is a loop over indices, however deep the page
//! is nested: children follow their parent, and to leave a subtree out is to go on at its end.

use super::tag::{Name, Tag};

/// The index of a node in document order.
pub(crate) type Index = usize;

/// One node. Text nodes have the tag [`Tag::Text`] and no children.
#[derive(Debug, Clone, Copy)]
pub(crate) struct Node {
    pub(crate) tag: Tag,
    /// The parent's index; of the document its own.
    pub(crate) parent: u32,
    /// The index behind the last node of the subtree.
    pub(crate) end: u32,
    /// Of text: bytes of the text buffer. Of an element: its attributes.
    pub(crate) span: (u32, u32),
}

/// The page: nodes in document order, with their text and attributes in one buffer each.
#[derive(Debug, Default)]
pub(crate) struct Tree {
    pub(crate) nodes: Vec<Node>,
    pub(crate) text: String,
    pub(crate) attributes: Vec<Attribute>,
    pub(crate) values: String,
    pub(crate) shown: Shown,
}

/// What of a page counts as seen beside what a browser would show.
#[derive(Debug, Clone, Copy, Default)]
pub(crate) struct Shown {
    /// What is hidden by attributes and inline styles.
    pub(crate) hidden: bool,
    /// What stands in for scripts that do not run.
    pub(crate) noscript: bool,
}

/// An attribute that extraction looks at; its value is a range of bytes in `values`.
#[derive(Debug, Clone, Copy)]
pub(crate) struct Attribute {
    pub(crate) name: Name,
    pub(crate) value: (u32, u32),
}

impl Tree {
    pub(crate) fn len(&self) -> usize {
        self.nodes.len()
    }

    pub(crate) fn tag(&self, at: Index) -> Tag {
        self.nodes[at].tag
    }

    pub(crate) fn parent(&self, at: Index) -> Index {
        self.nodes[at].parent as usize
    }

    /// The index behind the last node of the subtree.
    pub(crate) fn end(&self, at: Index) -> Index {
        self.nodes[at].end as usize
    }

    /// The text of a text node, entities replaced; empty for an element.
    pub(crate) fn text(&self, at: Index) -> &str {
        let node = &self.nodes[at];
        if node.tag == Tag::Text { slice(&self.text, node.span) } else { "" }
    }

    /// The value of an attribute, if the element has it.
    pub(crate) fn attribute(&self, at: Index, name: Name) -> Option<&str> {
        self.attributes(at).iter().find(|attribute| attribute.name == name).map(|found| self.value(found))
    }

    /// The attributes of an element that extraction looks at.
    pub(crate) fn attributes(&self, at: Index) -> &[Attribute] {
        let node = &self.nodes[at];
        if node.tag == Tag::Text {
            return &[];
        }
        self.attributes.get(node.span.0 as usize..node.span.1 as usize).unwrap_or_default()
    }

    pub(crate) fn value(&self, attribute: &Attribute) -> &str {
        slice(&self.values, attribute.value)
    }

    /// Parent, grandparent and so on up to the document.
    pub(crate) fn ancestors(&self, at: Index) -> impl Iterator<Item = Index> + '_ {
        let mut next = at;
        std::iter::from_fn(move || {
            let parent = self.parent(next);
            (parent != next).then(|| {
                next = parent;
                parent
            })
        })
    }

    /// The child nodes, in order.
    pub(crate) fn children(&self, at: Index) -> impl Iterator<Item = Index> + '_ {
        let end = self.end(at);
        let mut next = at + 1;
        std::iter::from_fn(move || {
            (next < end).then(|| {
                let child = next;
                next = self.end(child);
                child
            })
        })
    }

    /// All text inside, white space as it stands.
    pub(crate) fn inner_text(&self, at: Index) -> String {
        (at..self.end(at)).map(|inside| self.text(inside)).collect()
    }
}

fn slice(buffer: &str, (start, end): (u32, u32)) -> &str {
    buffer.get(start as usize..end as usize).unwrap_or_default()
}
