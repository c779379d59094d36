import type { Media, Output } from '../vendor.ts';

export interface DataUrl {
  /** In lower case, without parameters; '' where none is named. */
  readonly mimeType: string;
  /** Base64 that has not been looked at. */
  readonly data: string;
}

export function isDataUrl(address: string): boolean {
  return address.slice(0, 5).toLowerCase() === 'data:';
}

/** Undefined for what is no data URL with base64. */
export function parseDataUrl(address: string): DataUrl | undefined {
  const comma = isDataUrl(address) ? address.indexOf(',') : -1;
  if (comma === -1) return undefined;
  const [mimeType = '', ...parameters] = address.slice('data:'.length, comma).toLowerCase().split(';');
  return parameters.at(-1) === 'base64' ? { mimeType, data: address.slice(comma + 1) } : undefined;
}

/** The whole of a medium, in memory. */
export async function toDataUrl(media: Media): Promise<string> {
  return `data:${media.mimeType};base64,${(await media.read()).toString('base64')}`;
}

/** A result that an answer names by its address, or holds within it. */
export function outputAt(address: string): Output {
  const inline = parseDataUrl(address);
  return inline === undefined ? { url: address } : { data: Buffer.from(inline.data, 'base64') };
}
