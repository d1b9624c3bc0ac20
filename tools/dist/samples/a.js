export function alphaJs() {
  return 1;
}
