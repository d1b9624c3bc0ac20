/// Routes in the fragment: `#/TAB/REST?KEY=VALUE`. The server only ever sees `/`.

export interface Route {
  tab: string;
  /** What stands after the tab, decoded: an id, mostly. */
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

/** The address of a tab, of a thing in it, and of what the tab is set to. */
export function link(tab: string, rest = '', query: Record<string, string | undefined> = {}): string {
  const params = new URLSearchParams();
  for (const [key, value] of Object.entries(query)) {
    if (value !== undefined && value !== '') params.set(key, value);
  }
  // A colon may stand in a path as it is, and `SESSION:SEQ` reads better that way.
  const path = rest ? `/${encodeURIComponent(rest).replaceAll('%3A', ':')}` : '';
  const tail = params.size > 0 ? `?${params}` : '';
  return `#/${tab}${path}${tail}`;
}

export const route = $state<Route>(parseHash(location.hash));

function follow(): void {
  Object.assign(route, parseHash(location.hash));
}

window.addEventListener('hashchange', follow);

/** Goes to an address; `replace` leaves no step in the browser's history. */
export function go(address: string, replace = false): void {
  if (address === location.hash) return;
  if (replace) history.replaceState(null, '', address);
  else history.pushState(null, '', address);
  follow();
}
