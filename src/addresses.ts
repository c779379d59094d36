import { isIP } from 'node:net';

export function isHttpUrl(text: string): boolean {
  return URL.canParse(text) && /^https?:$/.test(new URL(text).protocol);
}

export function isPostgresUrl(text: string): boolean {
  return URL.canParse(text) && /^postgres(ql)?:$/.test(new URL(text).protocol);
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
