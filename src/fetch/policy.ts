import { isIP } from 'node:net';
import { ApiError } from '../errors.ts';
import { FETCH_URL_CHARS_MAX } from '../limits.ts';
import { isPublicAddress } from './addresses.ts';

/** Names that are never public, whatever a resolver makes of them. */
const LOCAL_ENDINGS = ['localhost', 'localdomain', 'local', 'internal', 'home.arpa'];

/** Which URLs may be fetched. Judges the canonical form, so that no notation of an address matters. */
export class UrlPolicy {
  readonly #allow: ReadonlySet<string>;

  /** Each entry is `host` or `host:port`. Throws for one that is neither. */
  constructor(allow: readonly string[]) {
    this.#allow = new Set(allow.map(canonicalEntry));
  }

  /** The canonical form. Makes no DNS query: the addresses of a name are judged when it is resolved. */
  check(text: string, relativeTo?: URL): URL {
    const url = URL.parse(text, relativeTo?.href);
    if (url === null) throw refusal('it is no URL');
    if (url.protocol !== 'http:' && url.protocol !== 'https:') throw new ApiError('unsupported_media_url_scheme');
    if (url.href.length > FETCH_URL_CHARS_MAX) throw refusal('it is too long');
    if (url.username !== '' || url.password !== '') throw refusal('it holds user information');
    dropRootDot(url);
    if (!this.#mayUsePort(url)) throw refusal('its port is not allowed');
    if (!this.isAllowed(url) && !mayBePublic(hostOf(url))) throw refusal('its host is not public');
    return url;
  }

  /** The operator has named this host; its addresses are not judged. */
  isAllowed(url: URL): boolean {
    return this.#allow.has(url.hostname) || this.#allow.has(withPort(url));
  }

  #mayUsePort(url: URL): boolean {
    const port = portOf(url);
    return port === 80 || port === 443 || port >= 1024 || this.#allow.has(withPort(url));
  }
}

/** Refused by policy: one code and one text, whatever the reason. */
export function refusal(reason: string): ApiError {
  return new ApiError('invalid_media_url', { cause: new Error(reason) });
}

/** Without the brackets of an IPv6 address. */
export function hostOf(url: URL): string {
  return url.hostname.replace(/^\[|\]$/g, '');
}

export function portOf(url: URL): number {
  if (url.port !== '') return Number(url.port);
  return url.protocol === 'https:' ? 443 : 80;
}

function mayBePublic(host: string): boolean {
  if (isIP(host) !== 0) return isPublicAddress(host);
  const isLocal = LOCAL_ENDINGS.some((ending) => host === ending || host.endsWith(`.${ending}`));
  return !isLocal && host.includes('.') && host.split('.').every((label) => label !== '');
}

function withPort(url: URL): string {
  return `${url.hostname}:${portOf(url)}`;
}

function canonicalEntry(entry: string): string {
  const [, host = '', port] = /^(\[.*\]|[^:@/?#\\]*)(?::(\d+))?$/.exec(isIP(entry) === 6 ? `[${entry}]` : entry) ?? [];
  const url = URL.parse(`http://${host}:${port ?? ''}/`);
  if (url === null || hostOf(url) === '') throw new Error(`TOLLGATE_FETCH_ALLOW: "${entry}" is not host or host:port`);
  dropRootDot(url);
  return port === undefined ? url.hostname : withPort(url);
}

/** The same name, as it stands in certificates. */
function dropRootDot(url: URL): void {
  if (url.hostname.endsWith('.')) url.hostname = url.hostname.slice(0, -1);
}
