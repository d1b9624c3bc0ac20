/// The time, for ages that stay right while a page is open.

export const now = $state({ ms: Date.now() });

setInterval(() => (now.ms = Date.now()), 20_000);
