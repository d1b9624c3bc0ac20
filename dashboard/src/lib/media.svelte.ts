/// Whether the window is wide enough for two columns.

const query = window.matchMedia('(min-width: 900px)');

export const media = $state({ isWide: query.matches });

query.addEventListener('change', (event) => (media.isWide = event.matches));
