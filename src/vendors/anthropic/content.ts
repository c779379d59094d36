import type { JsonObject, JsonValue } from '../../json.ts';
import { unsupported } from '../../unsupported.ts';
import { isList, isObject } from '../kit/json.ts';
import { invalid, isGiven, textOf } from './fields.ts';

/** What a message may hold: words only, or pictures and files as well. */
type Holds = 'text' | 'media';

/** The content of one message as blocks. A text of nothing but white space is none: the format refuses it. */
export function toBlocks(content: JsonValue | undefined, where: string, holds: Holds): JsonObject[] {
  if (!isGiven(content)) return [];
  if (typeof content === 'string') return textBlocks(content);
  if (!isList(content)) throw invalid(where, 'is neither a text nor a list');
  return content.flatMap((part, index) => partBlocks(part, `${where}[${index}]`, holds));
}

function textBlocks(text: string): JsonObject[] {
  return text.trim() === '' ? [] : [{ type: 'text', text }];
}

function partBlocks(part: JsonValue, where: string, holds: Holds): JsonObject[] {
  if (!isObject(part)) throw invalid(where, 'is not an object');
  switch (textOf(part.type) ?? '') {
    case 'text':
    case 'refusal':
      return textBlocks(wordsOf(part, where));
    case 'image_url':
      if (holds === 'media') return [{ type: 'image', source: imageSource(part, `${where}.image_url`) }];
      break;
    case 'file':
      if (holds === 'media') return [document(part.file, `${where}.file`)];
      break;
    case 'input_audio':
      throw unsupported(`${where}.input_audio`);
  }
  throw unsupported(`${where}.type`, 'another value');
}

function wordsOf(part: JsonObject, where: string): string {
  const words = textOf(part.type === 'text' ? part.text : part.refusal);
  if (words === undefined) throw invalid(where, 'holds no text');
  return words;
}

const IMAGE_TYPES: ReadonlySet<string> = new Set(['image/jpeg', 'image/png', 'image/gif', 'image/webp']);

function imageSource(part: JsonObject, where: string): JsonObject {
  const address = textOf(isObject(part.image_url) ? part.image_url.url : part.image_url);
  if (address === undefined) throw invalid(where, 'has no "url"');
  if (!isDataUrl(address)) return urlSource(address, where);
  const { type, data } = readDataUrl(address, where);
  const mediaType = type === 'image/jpg' ? 'image/jpeg' : type;
  if (!IMAGE_TYPES.has(mediaType)) throw unsupported(where, { oneOf: ['JPEG', 'PNG', 'GIF', 'WebP'] });
  return { type: 'base64', media_type: mediaType, data };
}

function document(file: JsonValue | undefined, where: string): JsonObject {
  if (!isObject(file)) throw invalid(where, 'is not an object');
  const address = textOf(file.file_data);
  // An id names a file that another account keeps.
  if (address === undefined) throw unsupported(`${where}.file_id`);
  const title = textOf(file.filename);
  const source = documentSource(address, `${where}.file_data`);
  return title === undefined ? { type: 'document', source } : { type: 'document', source, title };
}

function documentSource(address: string, where: string): JsonObject {
  if (!isDataUrl(address)) return urlSource(address, where);
  const { type, data } = readDataUrl(address, where);
  if (type === 'application/pdf') return { type: 'base64', media_type: type, data };
  if (!type.startsWith('text/')) throw unsupported(where, { oneOf: ['PDF', 'plain text'] });
  return { type: 'text', media_type: 'text/plain', data: Buffer.from(data, 'base64').toString('utf8') };
}

/** The address in its canonical form; the upstream fetches it. */
function urlSource(address: string, where: string): JsonObject {
  const url = URL.parse(address);
  if (url?.protocol !== 'https:' && url?.protocol !== 'http:') {
    throw invalid(where, 'is neither a data URL nor an http address');
  }
  return { type: 'url', url: url.href };
}

function isDataUrl(address: string): boolean {
  return address.slice(0, 5).toLowerCase() === 'data:';
}

/** `data:` with a media type, parameters, `;base64` and the bytes, which are not looked at. */
function readDataUrl(address: string, where: string): { type: string; data: string } {
  const comma = address.indexOf(',');
  const [type = '', ...parameters] = address.slice(5, Math.max(comma, 5)).toLowerCase().split(';');
  if (parameters.at(-1) !== 'base64') throw invalid(where, 'is a data URL without base64');
  return { type, data: address.slice(comma + 1) };
}
