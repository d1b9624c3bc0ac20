/// Whether the list of keys is open.

export const help = $state({ isOpen: false });

export function showKeys(): void {
  help.isOpen = true;
}
