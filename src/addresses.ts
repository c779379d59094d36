import { isIP, isIPv6 } from 'node:net';
import { z } from 'zod';
import { ADDRESS_IPV6_BITS, EMAIL_CHARS_MAX } from './limits.ts';

export function isHttpUrl(text: string): boolean {
  return URL.canParse(text) && /^https?:$/.test(new URL(text).protocol);
}

/** Such as before a path is appended. Not by a pattern: `/\/+$/` takes quadratic time over slashes that end in another character. */
export function withoutTrailingSlashes(address: string): string {
  let end = address.length;
  while (address[end - 1] === '/') end--;
  return address.slice(0, end);
}

/** Scheme, host and credentials; everything else about the connection follows from them. */
export function isSmtpUrl(text: string): boolean {
  if (!URL.canParse(text)) return false;
  const { protocol, hostname, pathname, search, hash, username, password } = new URL(text);
  const isPlain = (pathname === '' || pathname === '/') && search === '' && hash === '';
  return /^smtps?:$/.test(protocol) && hostname !== '' && isPlain && (username === '') === (password === '');
}

/** The same rule as in the contract of the API. */
export function isEmail(text: string): boolean {
  return text.length <= EMAIL_CHARS_MAX && z.regexes.email.test(text);
}

/** An email address, or a name before one in angle brackets. */
export function isMailbox(text: string): boolean {
  const [, address = text] = /^[^<>"\r\n]{1,100} <([^<>]+)>$/.exec(text) ?? [];
  return isEmail(address);
}

export function isOrigin(text: string): boolean {
  return isHttpUrl(text) && new URL(text).origin === text;
}

export function isAddressRange(text: string): boolean {
  const [address = '', bits, ...rest] = text.split('/');
  const family = isIP(address);
  if (family === 0 || rest.length > 0) return false;
  return bits === undefined || (/^\d{1,3}$/.test(bits) && Number(bits) <= (family === 4 ? 32 : 128));
}

/** Of IPv6 the network's part: one subscriber can send from every address of it. */
export function networkOf(address: string): string {
  if (!isIPv6(address)) return address;
  const [head = '', tail = ''] = address.toLowerCase().replace(/%.*$/, '').split('::');
  // An IPv4 address in IPv6's form is one machine's.
  const [, mapped] = /^(?:ffff:)?(\d+\.\d+\.\d+\.\d+)$/.exec(head === '' ? tail : '') ?? [];
  if (mapped !== undefined) return mapped;
  const groups = (text: string) => (text === '' ? [] : text.split(':'));
  const groupCount = groups(head).length + groups(tail).length;
  const zeros = address.includes('::') ? Array<string>(8 - groupCount).fill('0') : [];
  const all = [...groups(head), ...zeros, ...groups(tail)].map((group) => Number.parseInt(group, 16).toString(16));
  return `${all.slice(0, ADDRESS_IPV6_BITS / 16).join(':')}::/${ADDRESS_IPV6_BITS}`;
}
