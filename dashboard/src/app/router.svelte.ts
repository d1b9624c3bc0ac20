/// Routes are in the URL fragment, `#/TAB/REST?KEY=VALUE`, so the server always receives `/`.

export interface Route {
  tab: string;
  /** The decoded part after the tab, usually an id. */
  rest: string;
  query: Record<string, string>;
}

export function parseHash(hash: string): Route {
  const text = hash.replace(/^#\/?/, '');
  const cut = text.indexOf('?');
  const path = cut < 0 ? text : text.slice(0, cut);
  const query = cut < 0 ? {} : Object.fromEntries(new URLSearchParams(text.slice(cut + 1)));
  const [tab = '', ...rest] = path.split('/');
  return { tab: decode(tab) || 'overview', rest: rest.map(decode).join('/'), query };
}

function decode(text: string): string {
  try {
    return decodeURIComponent(text);
  } catch {
    return text;
  }
}

/** Returns the address of a tab, with an optional item and the tab's parameters. */
export function link(tab: string, rest = '', query: Record<string, string | undefined> = {}): string {
  const params = new URLSearchParams();
  for (const [key, value] of Object.entries(query)) {
    if (value !== undefined && value !== '') params.set(key, value);
  }
  // A colon is allowed in a path and keeps `SESSION:SEQ` readable.
  const path = rest ? `/${encodeURIComponent(rest).replaceAll('%3A', ':')}` : '';
  const tail = params.size > 0 ? `?${params}` : '';
  return `#/${tab}${path}${tail}`;
}

export const route = $state<Route>(parseHash(location.hash));

function follow(): void {
  Object.assign(route, parseHash(location.hash));
}

window.addEventListener('hashchange', follow);

/** Navigates to an address; `replace` adds no entry to the browser's history. */
export function go(address: string, replace = false): void {
  if (address === location.hash) return;
  if (replace) history.replaceState(null, '', address);
  else history.pushState(null, '', address);
  follow();
}
