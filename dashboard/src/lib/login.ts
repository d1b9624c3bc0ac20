// The secret that authenticates this page. It is in the browser's local storage, which is separate for each
// origin and port. A cookie would also be sent to servers on other ports of this machine. All dashboard tabs
// share the secret.
const KEY = 'nacre.login';

// If the browser blocks storage, only this page is logged in, until it is reloaded.
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

/** Drops a secret that the server rejected, unless another tab has stored a new one since. */
export function dropLogin(refused: string): void {
  if (loginSecret() !== refused) return;
  own = null;
  try {
    localStorage.removeItem(KEY);
  } catch {
    // Storage is blocked, so nothing was stored.
  }
}

/** Calls `handler` when another tab has logged in. */
export function onOtherLogin(handler: () => void): void {
  addEventListener('storage', (event) => {
    if (event.key === KEY && event.newValue !== null) handler();
  });
}
