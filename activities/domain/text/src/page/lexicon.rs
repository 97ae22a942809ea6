//! Words by which authors name the parts of their pages, in `class`, `id` and `role`, and by which parts name themselves.
//!
//! Each group is a bit. No word is the name of a site, and none decides alone: what a group tells was learned.

use std::collections::BTreeMap;
use std::sync::LazyLock;

use aho_corasick::AhoCorasick;

/// Groups of words, as bits.
pub(crate) type Groups = u32;

/// The groups of words in names, in the order of their bits.
const NAMES: [&str; 32] = [
    "nav navbar navigation menu menubar submenu dropdown topnav mainnav sitenav offcanvas hamburger \
     megamenu tablist toc",
    "footer foot colophon bottom contentinfo sitefooter pagefooter subfooter",
    "header masthead topbar top banner head siteheader logo branding toolbar",
    "sidebar aside rail side sidenav complementary secondary gutter widget widgets sidebars",
    "comment comments commentlist respond discussion commentary",
    "share sharing social socials follow sharebar icons",
    "ad ads adv advert advertisement advertising sponsor sponsored promo promotion promotions adslot \
     banners affiliate adbox",
    "cookie cookies consent gdpr ccpa notice alert notification toast snackbar",
    "modal popup overlay dialog lightbox tooltip popover drawer flyout interstitial paywall",
    "related recommended recommendation recommendations more similar trending popular latest recent also \
     suggested readnext upsell crosssell recirculation teaser teasers readmore",
    "newsletter subscribe subscription signup optin mailing cta register donate donation membership",
    "login signin account cart basket checkout wishlist user profile minicart auth",
    "author byline bio writer avatar contributor publisher",
    "meta date time timestamp published postmeta dateline info metadata details stats posted byline",
    "tag tags category categories topic topics label labels keyword keywords badge chip chips",
    "breadcrumb breadcrumbs crumb crumbs path bread",
    "pagination pager paging paginator prev next previous pages loadmore",
    "search filter filters facet facets sort sorting searchbox refine refinement select form input",
    "skip hidden hide sr screenreader visuallyhidden invisible visually reader noprint offscreen \
     collapsed mobile print",
    "copyright legal disclaimer privacy terms license policy",
    "rating ratings stars vote votes score like likes reaction reactions upvote karma",
    "article post entry story blog hentry articlebody postbody blogpost news",
    "content body main text maincontent primary prose richtext markdown wysiwyg copy rte editor \
     entrycontent mainbody",
    "product description detail spec specs specification specifications features feature summary overview \
     attributes sku pdp variant",
    "message reply replies thread forum answer question postcontent messages bbcode conversation solution",
    "faq accordion tab tabs panel collapse collapsible expandable qa toggle tabpanel",
    "item card cards tile list grid results result listing listings row collection items carousel slider \
     slide swiper feed stream",
    "title headline heading subtitle lead lede intro hero dek standfirst excerpt abstract tagline subhead \
     kicker eyebrow",
    "caption image photo gallery figure media video credit picture img thumbnail thumb audio player embed",
    "doc docs document documentation section chapter page api reference guide code highlight example",
    "price prices pricing shipping delivery stock availability quantity qty buy purchase order sale \
     discount",
    "button btn buttons link links action actions control controls edit icon copy",
];

/// The groups of phrases in text, in the order of their bits; a short text that holds one is of the group.
const PHRASES: [&str; 16] = [
    "©|copyright|all rights reserved|(c) 20|alle rechte|tous droits|derechos reservados",
    "privacy|terms of|terms &|cookie|gdpr|disclaimer|datenschutz|impressum|mentions légales|\
     accessibility",
    "sign in|log in|login|sign up|register|create account|create an account|my account|anmelden|\
     forgot password|password",
    "subscribe|newsletter|your email|email address|inbox|unsubscribe|abonn",
    "share|follow us|teilen|partager|compartir|copy link|print this",
    "skip to|toggle|menu|back to top|jump to|go to|table of contents|home|contact us|about us|\
     help|sitemap|site map",
    "comment|reply|replies|kommentar|commentaire|leave a",
    "related|recommended|you may also|you might also|more from|read more|trending|popular|\
     see also|most read|read next|up next|more stories|latest|mehr|lire aussi|also like|similar|\
     recently viewed|learn more|view all|see all|show more|load more|customers also",
    "advertisement|sponsored|promoted|anzeige|publicité|publicidad|advertise|affiliate",
    "min read|minute read|updated|published|posted|last modified|last edited|views|reading time|\
     written by|author",
    "add to cart|add to bag|add to basket|wishlist|quantity|checkout|sold out|in stock|\
     out of stock|free shipping|buy now|shop now|gift card|compare|your cart",
    "javascript|browser|loading|please enable|error|not supported|try again|captcha",
    "filter|sort by|search|results|showing|page 1|next page|previous|next|prev",
    "like|helpful|votes|upvote|report|quote|members|joined|messages:|posts:|thread starter|\
     registered|location:",
    "tags|filed under|categories|category|topics|posted in|tagged",
    "photo|image|credit|courtesy|source:|picture|watch|video|foto",
];

/// Texts longer than this name nothing.
const SHORT_TEXT: usize = 160;

/// Names that only adverts have.
const ADVERTS: &str = "ad ads advert adverts advertisement advertisements advertising adslot adunit adbox adblock \
    adcontainer adwrapper bannerad sponsored sponsoredcontent";

/// Whether a class or id says that the element is an advert, and nothing else.
pub(crate) fn is_advert(value: &str) -> bool {
    value.split_ascii_whitespace().filter(|word| word.starts_with(['a', 'A', 'b', 'B', 's', 'S'])).any(|word| {
        let name: String = word.chars().filter(|&letter| !matches!(letter, '-' | '_')).collect();
        ADVERTS.split_ascii_whitespace().any(|advert| name.eq_ignore_ascii_case(advert))
    })
}

/// The groups that the words of a class, id or role belong to.
pub(crate) fn names(value: &str) -> Groups {
    let mut groups = 0;
    for part in value.split(|character: char| !character.is_ascii_alphanumeric()) {
        if part.len() < 2 || part.len() > 40 {
            continue;
        }
        groups |= name(part);
        for word in humps(part) {
            if word.len() < part.len() {
                groups |= name(word);
            }
        }
    }
    groups
}

fn name(word: &str) -> Groups {
    let mut buffer = [0_u8; 40];
    let Some(lower) = buffer.get_mut(..word.len()) else { return 0 };
    for (to, from) in lower.iter_mut().zip(word.bytes()) {
        *to = from.to_ascii_lowercase();
    }
    let lower = &*lower;
    INDEX.binary_search_by(|(known, _)| known.as_bytes().cmp(lower)).map_or(0, |at| INDEX[at].1)
}

/// `mainContentArea` as `main`, `Content`, `Area`.
fn humps(part: &str) -> impl Iterator<Item = &str> {
    let mut rest = part;
    std::iter::from_fn(move || {
        if rest.is_empty() {
            return None;
        }
        let starts = rest.bytes().zip(rest.bytes().skip(1));
        let mut borders = starts.enumerate().filter(|(_, (one, next))| {
            (one.is_ascii_lowercase() && !next.is_ascii_lowercase())
                || (one.is_ascii_digit() && next.is_ascii_alphabetic())
        });
        let end = borders.next().map_or(rest.len(), |(at, _)| at + 1);
        let (word, behind) = rest.split_at(end);
        rest = behind;
        Some(word)
    })
}

/// The words of all groups, sorted.
static INDEX: LazyLock<Vec<(&str, Groups)>> = LazyLock::new(|| {
    let mut words: BTreeMap<&str, Groups> = BTreeMap::new();
    for (bit, group) in NAMES.iter().enumerate() {
        for word in group.split_ascii_whitespace() {
            *words.entry(word).or_default() |= 1 << bit;
        }
    }
    words.into_iter().collect()
});

/// The groups whose phrases stand in a short text.
pub(crate) fn phrases(text: &str) -> Groups {
    let Some(finder) = FINDER.as_ref().filter(|_| text.len() <= SHORT_TEXT) else { return 0 };
    let lower = text.to_lowercase();
    finder.find_overlapping_iter(&lower).fold(0, |groups, found| groups | 1 << PHRASE_OF[found.pattern().as_usize()])
}

/// Finds all phrases at once. A list as small as ours always makes one.
static FINDER: LazyLock<Option<AhoCorasick>> =
    LazyLock::new(|| AhoCorasick::new(PHRASES.iter().flat_map(|group| group.split('|'))).ok());

/// The group of each phrase, in the order in which the finder numbers them.
static PHRASE_OF: LazyLock<Vec<usize>> =
    LazyLock::new(|| PHRASES.iter().enumerate().flat_map(|(bit, group)| group.split('|').map(move |_| bit)).collect());

pub(crate) const NAME_GROUPS: usize = NAMES.len();
pub(crate) const PHRASE_GROUPS: usize = PHRASES.len();
