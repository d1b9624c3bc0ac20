/// The current time, updated so that displayed ages stay correct while a page is open.

export const now = $state({ ms: Date.now() });

setInterval(() => (now.ms = Date.now()), 20_000);
