const PNG_START = '89504e470d0a1a0a';
const HEADER_CHARS = 64;
const DATA_PREFIX_CHARS_MAX = 256;

/** What an attachment is, in words: "a PNG image file of 640 × 480 pixels (1234 bytes)". */
export function ofData(mimeType: string, base64: string): string {
  const [kind = '', format = ''] = mimeType.toLowerCase().split(/[/;]/);
  const start = Buffer.from(base64.slice(0, HEADER_CHARS), 'base64');
  const isPng = start.length >= 24 && start.toString('hex', 0, 8) === PNG_START;
  const size = isPng ? ` of ${start.readUInt32BE(16)} × ${start.readUInt32BE(20)} pixels` : '';
  const named = ['image', 'audio', 'video'].includes(kind) ? `${format.toUpperCase()} ${kind} file` : `${format} file`;
  return `a ${named.trim()}${size} (${Buffer.byteLength(base64, 'base64')} bytes)`;
}

/** A data URL, or an address, which is never fetched. */
export function ofUrl(url: string): string {
  const comma = url.slice(0, DATA_PREFIX_CHARS_MAX).indexOf(',');
  if (url.startsWith('data:') && comma !== -1) {
    return ofData(url.slice('data:'.length, comma).replace(/;base64$/i, ''), url.slice(comma + 1));
  }
  return URL.canParse(url) ? `a file at ${new URL(url).host}` : 'a file';
}
