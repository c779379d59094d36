import { readFileSync } from 'node:fs';
import { extname } from 'node:path';
import { CommandError, UsageError } from '../command.ts';
import { reasonOf } from '../finding.ts';

/** Fields that are text whatever they look like: the prompt "42" is no number. */
const TEXT_FIELDS = new Set([
  'prompt',
  'negative_prompt',
  'input',
  'text',
  'lyrics',
  'instructions',
  'voice',
  'voice_description',
  'language',
  'model',
  'size',
  'user',
]);

const MIME_TYPES: Readonly<Record<string, string>> = {
  '.png': 'image/png',
  '.jpg': 'image/jpeg',
  '.jpeg': 'image/jpeg',
  '.webp': 'image/webp',
  '.mp4': 'video/mp4',
  '.webm': 'video/webm',
  '.mp3': 'audio/mpeg',
  '.wav': 'audio/wav',
  '.ogg': 'audio/ogg',
  '.flac': 'audio/flac',
};

/**
 * The body that `name=value` words make: numbers, true and false as such, everything else as text; `name:=JSON` exactly;
 * `name=@file` the text of a file, or the file itself as a data URL where the field is none of text.
 */
export function requestFields(words: readonly string[]): Record<string, unknown> {
  return Object.fromEntries(words.map(fieldFromWord));
}

function fieldFromWord(word: string): [name: string, value: unknown] {
  const [, name, mark, text] = /^([A-Za-z_]\w*)(:?=)([\s\S]*)$/.exec(word) ?? [];
  if (name === undefined || text === undefined)
    throw new UsageError(`"${word}" is no field such as prompt="a toll gate".`);
  if (mark === ':=') return [name, jsonValue(name, text)];
  if (text.startsWith('@')) return [name, fileValue(name, text.slice(1))];
  return [name, TEXT_FIELDS.has(name) ? text : plainValue(text)];
}

function plainValue(text: string): unknown {
  if (text === 'true' || text === 'false') return text === 'true';
  return /^-?(0|[1-9]\d*)(\.\d+)?$/.test(text) ? Number(text) : text;
}

function jsonValue(name: string, text: string): unknown {
  try {
    return JSON.parse(text);
  } catch {
    throw new UsageError(`${name}:= takes JSON, and "${text}" is none.`);
  }
}

function fileValue(name: string, path: string): string {
  let content: Buffer;
  try {
    content = readFileSync(path);
  } catch (error) {
    throw new CommandError(`${path} cannot be read: ${reasonOf(error)}.`);
  }
  if (TEXT_FIELDS.has(name)) return content.toString('utf8');
  const type = MIME_TYPES[extname(path).toLowerCase()] ?? 'application/octet-stream';
  return `data:${type};base64,${content.toString('base64')}`;
}
