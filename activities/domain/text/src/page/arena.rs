//! The tree while it is built: what the tree builder asks for, on nodes in one vector with indices for links.

use std::borrow::Cow;
use std::cell::{Cell, RefCell};

use html5ever::interface::{ElemName, ElementFlags, NodeOrText, QuirksMode, TreeSink};
use html5ever::tendril::StrTendril;
use html5ever::{Attribute as Parsed, LocalName, Namespace, QualName};

use super::Limits;
use super::tag::{Name, Tag};
use super::tree::{Attribute, Node, Shown, Tree};

/// The index of a node in the order in which nodes were made.
pub(crate) type Handle = u32;

const NONE: Handle = Handle::MAX;
const DOCUMENT: Handle = 0;

/// Nodes under construction. The tree builder holds handles only, so that moving a subtree is a change of links.
pub(crate) struct Arena {
    inner: RefCell<Inner>,
    /// How deep the element stands that was opened last, or is open since the last one was closed.
    depth: Cell<usize>,
    attribute_bytes: usize,
    attributes_cut: Cell<u64>,
}

#[derive(Default)]
struct Inner {
    nodes: Vec<Linked>,
    /// Of elements, in the order of `nodes`; the names of others are of no use to anyone.
    names: Vec<QualName>,
    text: String,
    attributes: Vec<Attribute>,
    values: String,
}

#[derive(Clone, Copy)]
struct Linked {
    tag: Tag,
    depth: u16,
    parent: Handle,
    previous: Handle,
    next: Handle,
    first: Handle,
    last: Handle,
    span: (u32, u32),
    name: u32,
}

/// An element's name, as the tree builder compares it.
#[derive(Debug)]
pub(crate) struct Named(QualName);

impl ElemName for Named {
    fn ns(&self) -> &Namespace {
        &self.0.ns
    }

    fn local_name(&self) -> &LocalName {
        &self.0.local
    }
}

impl Arena {
    pub(crate) fn new(limits: &Limits) -> Self {
        let mut inner = Inner::default();
        inner.node(Tag::Document, (0, 0), 0);
        Self {
            inner: RefCell::new(inner),
            depth: Cell::new(0),
            attribute_bytes: limits.attribute_bytes,
            attributes_cut: Cell::new(0),
        }
    }

    pub(crate) fn len(&self) -> usize {
        self.inner.borrow().nodes.len()
    }

    pub(crate) fn depth(&self) -> usize {
        self.depth.get()
    }

    pub(crate) fn attributes_cut(&self) -> u64 {
        self.attributes_cut.get()
    }

    /// The nodes that can be reached, in document order.
    pub(crate) fn flatten(&self) -> Tree {
        let inner = std::mem::take(&mut *self.inner.borrow_mut());
        let nodes = inner.in_document_order();
        Tree { nodes, text: inner.text, attributes: inner.attributes, values: inner.values, shown: Shown::default() }
    }
}

impl Inner {
    fn node(&mut self, tag: Tag, span: (u32, u32), name: usize) -> Handle {
        let handle = index(self.nodes.len());
        let links = Linked {
            tag,
            depth: 0,
            parent: NONE,
            previous: NONE,
            next: NONE,
            first: NONE,
            last: NONE,
            span,
            name: index(name),
        };
        self.nodes.push(links);
        handle
    }

    fn at(&mut self, handle: Handle) -> &mut Linked {
        &mut self.nodes[handle as usize]
    }

    fn detach(&mut self, handle: Handle) {
        let Linked { parent, previous, next, .. } = *self.at(handle);
        if parent == NONE {
            return;
        }
        match previous {
            NONE => self.at(parent).first = next,
            _ => self.at(previous).next = next,
        }
        match next {
            NONE => self.at(parent).last = previous,
            _ => self.at(next).previous = previous,
        }
        let node = self.at(handle);
        (node.parent, node.previous, node.next) = (NONE, NONE, NONE);
    }

    /// Puts a node before a sibling, or last when there is none.
    fn insert(&mut self, parent: Handle, handle: Handle, before: Handle) {
        self.detach(handle);
        let previous = if before == NONE { self.at(parent).last } else { self.at(before).previous };
        let depth = self.at(parent).depth.saturating_add(1);
        let node = self.at(handle);
        (node.parent, node.previous, node.next, node.depth) = (parent, previous, before, depth);
        match previous {
            NONE => self.at(parent).first = handle,
            _ => self.at(previous).next = handle,
        }
        match before {
            NONE => self.at(parent).last = handle,
            _ => self.at(before).previous = handle,
        }
    }

    fn insert_text(&mut self, parent: Handle, text: &str, before: Handle) {
        if !self.is_text_wanted(parent) {
            return;
        }
        let previous = if before == NONE { self.at(parent).last } else { self.at(before).previous };
        let start = index(self.text.len());
        self.text.push_str(text);
        let end = index(self.text.len());
        if previous != NONE {
            let neighbour = self.at(previous);
            if neighbour.tag == Tag::Text && neighbour.span.1 == start {
                neighbour.span.1 = end;
                return;
            }
        }
        let handle = self.node(Tag::Text, (start, end), 0);
        self.insert(parent, handle, before);
    }

    /// Programs and styles are never text of a page; of scripts, those that hold data are read later.
    fn is_text_wanted(&self, parent: Handle) -> bool {
        let node = &self.nodes[parent as usize];
        match node.tag {
            Tag::Style | Tag::Iframe | Tag::Noframes | Tag::Noembed => false,
            Tag::Script => self.attributes[node.span.0 as usize..node.span.1 as usize].iter().any(|attribute| {
                let value = &self.values[attribute.value.0 as usize..attribute.value.1 as usize];
                attribute.name == Name::Type && value.trim().eq_ignore_ascii_case("application/ld+json")
            }),
            _ => true,
        }
    }

    fn in_document_order(&self) -> Vec<Node> {
        let mut nodes: Vec<Node> = Vec::with_capacity(self.nodes.len());
        let mut at = DOCUMENT;
        let mut parent = 0;
        loop {
            let linked = &self.nodes[at as usize];
            let here = index(nodes.len());
            nodes.push(Node { tag: linked.tag, parent, end: here + 1, span: linked.span });
            if linked.first != NONE {
                (at, parent) = (linked.first, here);
                continue;
            }
            let mut open = here;
            loop {
                let next = self.nodes[at as usize].next;
                if at == DOCUMENT {
                    return nodes;
                }
                if next != NONE {
                    at = next;
                    break;
                }
                at = self.nodes[at as usize].parent;
                open = nodes[open as usize].parent;
                nodes[open as usize].end = index(nodes.len());
            }
            parent = nodes[open as usize].parent;
        }
    }
}

impl TreeSink for Arena {
    type Handle = Handle;
    type Output = ();
    type ElemName<'a> = Named;

    fn finish(self) {}

    fn parse_error(&self, _: Cow<'static, str>) {}

    fn get_document(&self) -> Handle {
        DOCUMENT
    }

    fn elem_name<'a>(&'a self, target: &'a Handle) -> Named {
        let inner = self.inner.borrow();
        let name = inner.nodes[*target as usize].name as usize;
        Named(inner.names[name].clone())
    }

    fn create_element(&self, name: QualName, attributes: Vec<Parsed>, _: ElementFlags) -> Handle {
        let mut inner = self.inner.borrow_mut();
        let start = index(inner.attributes.len());
        for attribute in &attributes {
            self.keep(&mut inner, attribute);
        }
        let span = (start, index(inner.attributes.len()));
        let tag = Tag::of(&name.local);
        inner.names.push(name);
        let last = inner.names.len() - 1;
        inner.node(tag, span, last)
    }

    fn create_comment(&self, _: StrTendril) -> Handle {
        self.inner.borrow_mut().node(Tag::Other, (0, 0), 0)
    }

    fn create_pi(&self, _: StrTendril, _: StrTendril) -> Handle {
        self.inner.borrow_mut().node(Tag::Other, (0, 0), 0)
    }

    fn append(&self, parent: &Handle, child: NodeOrText<Handle>) {
        self.put(*parent, child, NONE);
    }

    fn append_based_on_parent_node(&self, element: &Handle, previous: &Handle, child: NodeOrText<Handle>) {
        let parent = self.inner.borrow_mut().at(*element).parent;
        if parent == NONE {
            self.put(*previous, child, NONE);
        } else {
            self.put(parent, child, *element);
        }
    }

    fn append_doctype_to_document(&self, _: StrTendril, _: StrTendril, _: StrTendril) {}

    fn pop(&self, node: &Handle) {
        self.depth.set(usize::from(self.inner.borrow_mut().at(*node).depth).saturating_sub(1));
    }

    /// What is in a template stays inside it: extraction leaves it out, or reads it where it is a declared shadow tree.
    fn get_template_contents(&self, target: &Handle) -> Handle {
        *target
    }

    fn same_node(&self, one: &Handle, other: &Handle) -> bool {
        one == other
    }

    fn set_quirks_mode(&self, _: QuirksMode) {}

    fn append_before_sibling(&self, sibling: &Handle, child: NodeOrText<Handle>) {
        let parent = self.inner.borrow_mut().at(*sibling).parent;
        if parent != NONE {
            self.put(parent, child, *sibling);
        }
    }

    fn add_attrs_if_missing(&self, target: &Handle, attributes: Vec<Parsed>) {
        let mut inner = self.inner.borrow_mut();
        let (start, end) = inner.at(*target).span;
        let had: Vec<Attribute> = inner.attributes[start as usize..end as usize].to_vec();
        let moved = index(inner.attributes.len());
        inner.attributes.extend_from_slice(&had);
        for attribute in &attributes {
            if !had.iter().any(|own| own.name == Name::of(&attribute.name.local)) {
                self.keep(&mut inner, attribute);
            }
        }
        let behind = index(inner.attributes.len());
        inner.at(*target).span = (moved, behind);
    }

    fn remove_from_parent(&self, target: &Handle) {
        self.inner.borrow_mut().detach(*target);
    }

    fn reparent_children(&self, node: &Handle, new_parent: &Handle) {
        let mut inner = self.inner.borrow_mut();
        while inner.at(*node).first != NONE {
            let child = inner.at(*node).first;
            inner.insert(*new_parent, child, NONE);
        }
    }
}

impl Arena {
    fn put(&self, parent: Handle, child: NodeOrText<Handle>, before: Handle) {
        let mut inner = self.inner.borrow_mut();
        match child {
            NodeOrText::AppendText(text) => inner.insert_text(parent, &text, before),
            NodeOrText::AppendNode(node) => {
                inner.insert(parent, node, before);
                self.depth.set(usize::from(inner.at(node).depth));
            }
        }
    }

    fn keep(&self, inner: &mut Inner, attribute: &Parsed) {
        let name = Name::of(&attribute.name.local);
        if name == Name::Other {
            return;
        }
        let value: &str = &attribute.value;
        let kept = &value[..value.floor_char_boundary(self.attribute_bytes.min(value.len()))];
        if kept.len() < value.len() {
            self.attributes_cut.set(self.attributes_cut.get() + 1);
        }
        let start = index(inner.values.len());
        inner.values.push_str(kept);
        let value = (start, index(inner.values.len()));
        inner.attributes.push(Attribute { name, value });
    }
}

/// Pages are shorter than 4 GiB, and so is everything in them.
fn index(length: usize) -> u32 {
    u32::try_from(length).unwrap_or(u32::MAX - 1)
}
