// Remembers that the page on screen was reached by a navigation inside the
// console, until its heading took the focus.
let navigated = false;

export function noteNavigation(): void {
  navigated = true;
}

export function takeNavigation(): boolean {
  const was = navigated;
  navigated = false;
  return was;
}
