export function AlphaTsx() {
  return <b>x</b>;
}
