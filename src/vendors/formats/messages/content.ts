import type { JsonObject, JsonValue } from '../../../json.ts';
import { unsupported } from '../../../unsupported.ts';
import { requiredObject, requiredText } from '../../kit/chat-fields.ts';
import { type DataUrl, isDataUrl, parseDataUrl } from '../../kit/data-url.ts';
import { isList, isObject, stringAt } from '../../kit/json.ts';
import { invalid } from '../../kit/refusals.ts';

/** What a message may hold: words only, or pictures and files as well. */
type Holds = 'text' | 'media';

/** The content of one message as blocks. A text of nothing but white space is none: the format refuses it. */
export function toBlocks(content: JsonValue | undefined, where: string, holds: Holds): JsonObject[] {
  if (content === undefined || content === null) return [];
  if (typeof content === 'string') return textBlocks(content);
  if (!isList(content)) throw invalid(where, 'is neither a text nor a list');
  return content.flatMap((part, index) => partBlocks(part, `${where}[${index}]`, holds));
}

function textBlocks(text: string): JsonObject[] {
  return text.trim() === '' ? [] : [{ type: 'text', text }];
}

function partBlocks(value: JsonValue, where: string, holds: Holds): JsonObject[] {
  const part = requiredObject(value, where);
  const type = stringAt(part, 'type') ?? '';
  if (type === 'text' || type === 'refusal') return textBlocks(requiredText(part, type, where));
  if (type === 'input_audio') throw unsupported(`${where}.input_audio`);
  if (type === 'image_url' && holds === 'media') {
    return [{ type: 'image', source: imageSource(part.image_url, `${where}.image_url`) }];
  }
  if (type === 'file' && holds === 'media') return [document(part.file, `${where}.file`)];
  throw unsupported(`${where}.type`, 'another value');
}

const IMAGE_TYPES: ReadonlySet<string> = new Set(['image/jpeg', 'image/png', 'image/gif', 'image/webp']);

function imageSource(image: JsonValue | undefined, where: string): JsonObject {
  const address = isObject(image) ? stringAt(image, 'url') : image;
  if (typeof address !== 'string') throw invalid(where, 'has no "url"');
  if (!isDataUrl(address)) return urlSource(address, where);
  const { mimeType, data } = readDataUrl(address, where);
  const media_type = mimeType === 'image/jpg' ? 'image/jpeg' : mimeType;
  if (!IMAGE_TYPES.has(media_type)) throw unsupported(where, { oneOf: ['JPEG', 'PNG', 'GIF', 'WebP'] });
  return { type: 'base64', media_type, data };
}

function document(value: JsonValue | undefined, where: string): JsonObject {
  const file = requiredObject(value, where);
  const [address, title] = [stringAt(file, 'file_data'), stringAt(file, 'filename')];
  // An id names a file that another account keeps.
  if (address === undefined) throw unsupported(`${where}.file_id`);
  const source = documentSource(address, `${where}.file_data`);
  return title === undefined ? { type: 'document', source } : { type: 'document', source, title };
}

function documentSource(address: string, where: string): JsonObject {
  if (!isDataUrl(address)) return urlSource(address, where);
  const { mimeType, data } = readDataUrl(address, where);
  if (mimeType === 'application/pdf') return { type: 'base64', media_type: mimeType, data };
  if (!mimeType.startsWith('text/')) throw unsupported(where, { oneOf: ['PDF', 'plain text'] });
  return { type: 'text', media_type: 'text/plain', data: Buffer.from(data, 'base64').toString('utf8') };
}

function readDataUrl(address: string, where: string): DataUrl {
  const inline = parseDataUrl(address);
  if (inline === undefined) throw invalid(where, 'is a data URL without base64');
  return inline;
}

/** The address in its canonical form; the upstream fetches it. */
function urlSource(address: string, where: string): JsonObject {
  const url = URL.parse(address);
  if (url?.protocol !== 'https:' && url?.protocol !== 'http:') {
    throw invalid(where, 'is neither a data URL nor an http address');
  }
  return { type: 'url', url: url.href };
}
