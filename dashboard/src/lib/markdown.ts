/// Renders Markdown as safe HTML. Text from memories and sessions is untrusted: it must not be able to run
/// scripts, load resources or submit forms.
import DOMPurify, { type Config } from 'dompurify';
import { Marked, type Tokens } from 'marked';

const TAGS = [
  ...['p', 'br', 'hr', 'h1', 'h2', 'h3', 'h4', 'h5', 'h6', 'ul', 'ol', 'li', 'blockquote', 'pre', 'code'],
  ...['em', 'strong', 'del', 'a', 'table', 'thead', 'tbody', 'tr', 'th', 'td'],
];

const RULES: Config = {
  ALLOWED_TAGS: TAGS,
  ALLOWED_ATTR: ['href', 'align', 'start'],
  // Their values are not URLs, so the next rule must not check them.
  ADD_URI_SAFE_ATTR: ['align', 'start'],
  ALLOWED_URI_REGEXP: /^(?:https?:|mailto:|#\/)/i,
  ALLOW_DATA_ATTR: false,
  ALLOW_ARIA_ATTR: false,
};

export function escapeHtml(text: string): string {
  return text
    .replaceAll('&', '&amp;')
    .replaceAll('<', '&lt;')
    .replaceAll('>', '&gt;')
    .replaceAll('"', '&quot;')
    .replaceAll("'", '&#39;');
}

const marked = new Marked({
  gfm: true,
  async: false,
  renderer: {
    // HTML inside Markdown is shown as text. Otherwise the parser would see its style attributes, which the
    // content security policy reports even in a document that is never shown.
    html: ({ text }: Tokens.HTML | Tokens.Tag) => escapeHtml(text),
    checkbox: ({ checked }: Tokens.Checkbox) => (checked ? '☑ ' : '☐ '),
    // Images are shown as links, because loading them would contact other servers.
    image: ({ href, text }: Tokens.Image) =>
      `<a href="${escapeHtml(href)}">${escapeHtml(text || href)}</a>`,
  },
});

const purifier = DOMPurify(window);

purifier.addHook('afterSanitizeAttributes', (node) => {
  if (node.tagName === 'A') finishLink(node);
});

/** Opens external links in a new tab without a referrer, and turns links with other schemes into text. */
function finishLink(node: Element): void {
  const href = node.getAttribute('href') ?? '';
  if (/^(?:https?:|mailto:)/i.test(href)) {
    node.setAttribute('target', '_blank');
    node.setAttribute('rel', 'noreferrer noopener');
  } else if (!href.startsWith('#/')) {
    node.removeAttribute('href');
  }
}

/** Removes everything that Markdown does not need. */
export function sanitize(html: string): string {
  return purifier.sanitize(html, RULES);
}

export function renderMarkdown(text: string): string {
  return sanitize(marked.parse(text) as string);
}
