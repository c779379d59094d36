import type { JsonObject, JsonValue } from '../../json.ts';
import { isList, isObject, objectAt, stringAt } from '../../json-read.ts';
import { invalid, unsupported, unsupportedType } from '../../unsupported.ts';

/** The parts of a chat message that this format's blocks become. */
export type ChatPart = JsonObject;

/** What one turn of the user becomes: answers to tool calls, each a message of its own, and what it says besides. */
export interface UserTurn {
  readonly results: readonly JsonObject[];
  readonly parts: readonly ChatPart[];
}

/** The blocks of a turn; a text is one of them. */
export function blocksOf(content: JsonValue | undefined, where: string): readonly JsonObject[] {
  if (typeof content === 'string') return [{ type: 'text', text: content }];
  if (!isList(content)) throw invalid(where, 'is neither a text nor a list of blocks');
  return content.map((block, index) => {
    if (!isObject(block)) throw invalid(`${where}[${index}]`, 'is not an object');
    return block;
  });
}

/**
 * `role: tool` holds text alone, so pictures and files of a tool's result go to the message of the user behind it, in
 * front of what the user says.
 */
export function toUserTurn(content: JsonValue | undefined, where: string): UserTurn {
  const results: JsonObject[] = [];
  const media: ChatPart[] = [];
  const parts: ChatPart[] = [];
  for (const [index, block] of blocksOf(content, where).entries()) {
    const at = `${where}[${index}]`;
    if (block.type === 'tool_result') results.push(toToolMessage(block, media, at));
    else parts.push(...toParts(block, at));
  }
  return { results, parts: [...media, ...parts] };
}

function toToolMessage(block: JsonObject, media: ChatPart[], where: string): JsonObject {
  const id = textAt(block, 'tool_use_id', where);
  const content = block.content ?? '';
  const parts = blocksOf(content, `${where}.content`).flatMap((inner, index) =>
    toParts(inner, `${where}.content[${index}]`),
  );
  const others = parts.filter(({ type }) => type !== 'text');
  if (others.length > 0) media.push({ type: 'text', text: `Of the result of ${id}:` }, ...others);
  const text = parts.flatMap((part) => (part.type === 'text' ? [stringAt(part, 'text') ?? ''] : [])).join('\n');
  return { role: 'tool', tool_call_id: id, content: block.is_error === true ? `Error: ${text}` : text };
}

function toParts(block: JsonObject, where: string): ChatPart[] {
  switch (stringAt(block, 'type') ?? '') {
    case 'text':
      return [{ type: 'text', text: textAt(block, 'text', where) }];
    case 'image':
      return [{ type: 'image_url', image_url: { url: imageUrl(block, where) } }];
    case 'document':
      return documentParts(block, where);
    case 'search_result':
      return searchResultParts(block, where);
    default:
      throw unsupportedType(where, 'block', stringAt(block, 'type') ?? '');
  }
}

function imageUrl(block: JsonObject, where: string): string {
  const { source, at } = sourceOf(block, where);
  if (source.type === 'base64') return dataUrl(source, at);
  if (source.type === 'url') return textAt(source, 'url', at);
  throw unsupported(`${at}.type`, { oneOf: ['base64', 'url'] });
}

function documentParts(block: JsonObject, where: string): ChatPart[] {
  const { source, at } = sourceOf(block, where);
  const title = stringAt(block, 'title');
  const head = title === undefined ? '' : `${title}\n\n`;
  if (source.type === 'text') return [{ type: 'text', text: head + textAt(source, 'data', at) }];
  if (source.type === 'base64') {
    return [{ type: 'file', file: { filename: title ?? 'document.pdf', file_data: dataUrl(source, at) } }];
  }
  if (source.type !== 'content') throw unsupported(`${at}.type`, { oneOf: ['base64', 'text', 'content'] });
  const inner = blocksOf(source.content, `${at}.content`);
  const parts = inner.flatMap((part, index) => toParts(part, `${at}.content[${index}]`));
  return head === '' ? parts : [{ type: 'text', text: head }, ...parts];
}

function searchResultParts(block: JsonObject, where: string): ChatPart[] {
  const head = [stringAt(block, 'title'), stringAt(block, 'source')].filter((text) => text !== undefined).join('\n');
  const inner = blocksOf(block.content, `${where}.content`).map((part, index) =>
    textAt(part, 'text', `${where}.content[${index}]`),
  );
  return [{ type: 'text', text: [head, ...inner].join('\n') }];
}

function sourceOf(block: JsonObject, where: string): { source: JsonObject; at: string } {
  const at = `${where}.source`;
  const source = objectAt(block, 'source');
  if (source === undefined) throw invalid(at, 'is not an object');
  return { source, at };
}

function dataUrl(source: JsonObject, where: string): string {
  return `data:${textAt(source, 'media_type', where)};base64,${textAt(source, 'data', where)}`;
}

export function textAt(from: JsonObject, key: string, where: string): string {
  const text = stringAt(from, key);
  if (text === undefined) throw invalid(`${where}.${key}`, 'is not a text');
  return text;
}
