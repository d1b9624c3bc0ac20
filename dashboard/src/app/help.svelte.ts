/// Whether the list of keyboard shortcuts is open.

export const help = $state({ isOpen: false });

export function showKeys(): void {
  help.isOpen = true;
}
