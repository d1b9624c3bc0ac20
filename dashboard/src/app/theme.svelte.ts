/// The light, dark or system theme.

export type Theme = 'light' | 'dark' | 'system';

const KEY = 'nacre.theme';
const prefersDark = window.matchMedia('(prefers-color-scheme: dark)');

function stored(): Theme {
  try {
    const value = localStorage.getItem(KEY);
    return value === 'light' || value === 'dark' ? value : 'system';
  } catch {
    return 'system';
  }
}

/** `shown` is the theme in effect; plots are redrawn when it changes. */
export const theme = $state<{ chosen: Theme; shown: 'light' | 'dark' }>({
  chosen: stored(),
  shown: 'light',
});

export function applyTheme(): void {
  const isDark = theme.chosen === 'dark' || (theme.chosen === 'system' && prefersDark.matches);
  document.documentElement.dataset.theme = isDark ? 'dark' : 'light';
  theme.shown = isDark ? 'dark' : 'light';
}

export function chooseTheme(chosen: Theme): void {
  theme.chosen = chosen;
  try {
    localStorage.setItem(KEY, chosen);
  } catch {
    // Private windows may block storage; the choice then lasts until the page is closed.
  }
  applyTheme();
}

prefersDark.addEventListener('change', applyTheme);
