// The secret by which the server knows this page. It lies in the browser's storage, which belongs to one origin with its port: unlike a
// cookie, it is neither sent nor shown to whoever listens on another port of this machine. All tabs of the dashboard share it.
const KEY = 'nacre.login';

// Where the browser refuses storage, this page alone is let in, until it is loaded again.
let own: string | null = null;

export function loginSecret(): string | null {
  try {
    return localStorage.getItem(KEY) ?? own;
  } catch {
    return own;
  }
}

export function keepLogin(secret: string): void {
  own = null;
  try {
    localStorage.setItem(KEY, secret);
  } catch {
    own = secret;
  }
}

/** Drops a secret that the server refused, unless another tab has got a new one since. */
export function dropLogin(refused: string): void {
  if (loginSecret() !== refused) return;
  own = null;
  try {
    localStorage.removeItem(KEY);
  } catch {
    // There is none then.
  }
}

/** Calls `handler` when another tab was let in. */
export function onOtherLogin(handler: () => void): void {
  addEventListener('storage', (event) => {
    if (event.key === KEY && event.newValue !== null) handler();
  });
}
