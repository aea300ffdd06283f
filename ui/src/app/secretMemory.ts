// The secret that was shown last, for this page's life only: so that client
// set-up can fill it in. It is never stored.
let last: { name: string; secret: string } | undefined;

export function rememberSecret(name: string, secret: string): void {
  last = { name, secret };
}

export function lastSecret(): { name: string; secret: string } | undefined {
  return last;
}
