export function alphaTs(x: number): number {
  return x;
}
