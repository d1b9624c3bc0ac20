/// How wide the window is, for layouts that show one thing or two.

const query = window.matchMedia('(min-width: 900px)');

export const media = $state({ isWide: query.matches });

query.addEventListener('change', (event) => (media.isWide = event.matches));
