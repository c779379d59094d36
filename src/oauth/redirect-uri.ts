/**
 * Whether an app may be answered at this address: the very text that was registered. A program on a person's machine takes
 * whatever port is free, so for a public app the port of an http address on a loopback interface is not compared (RFC 8252,
 * section 7.3). `localhost` counts as one, since common programs register it and browsers never ask a name server for it; no other
 * host name does.
 */
export function isRedirectAllowed(registered: readonly string[], redirectUri: string, isPublic: boolean): boolean {
  if (registered.includes(redirectUri)) return true;
  const [, before, after] = isPublic ? (LOOPBACK.exec(redirectUri) ?? []) : [];
  return before !== undefined && registered.some((uri) => uri.replace(LOOPBACK, '$1$2') === `${before}${after}`);
}

/** Interface, port, and the rest as it stands. Nothing may stand between the interface and the path but a port. */
const LOOPBACK = /^(http:\/\/(?:127\.0\.0\.1|\[::1\]|localhost))(?::\d{1,5})?((?:[/?].*)?)$/;
