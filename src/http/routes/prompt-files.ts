import type { Caller } from '../../accounts/index.ts';
import { ApiError } from '../../errors.ts';
import { type LinkedFile, readFile } from '../../files/index.ts';
import type { ResponsesRequest } from '../../formats/index.ts';
import type { JsonValue } from '../../json.ts';
import { isList, isObject, itemsAt, objectAt, stringAt } from '../../json-read.ts';
import { PROMPT_FILES_BYTES_MAX } from '../../limits.ts';
import type { ChatRequest } from '../../schemas/index.ts';
import { invalid } from '../../unsupported.ts';
import type { HttpDeps } from '../deps.ts';
import { namedFile } from './named-file.ts';

/**
 * Files of the account that a prompt names by their ids, put into it as data URLs: no upstream knows our ids, and an id of
 * its own would name what the operator keeps there. Without `content` a file only counts, as an estimate needs it.
 */
export class PromptFiles {
  readonly #deps: HttpDeps;
  readonly #caller: Caller;
  readonly #content: boolean;
  #bytesLeft = PROMPT_FILES_BYTES_MAX;

  constructor(deps: HttpDeps, caller: Caller, { content = true } = {}) {
    this.#deps = deps;
    this.#caller = caller;
    this.#content = content;
  }

  /** Throws ApiError: `file_not_found` alike for what is not there and what is another account's. */
  async inChat(request: ChatRequest): Promise<ChatRequest> {
    const sent = itemsAt(request.body, 'messages');
    if (!sent.some((message) => partsAt(message, 'content').some(namesChatFile))) return request;
    const messages = await this.#inAll(sent, 'messages', ['content'], (part, where) => this.#chatPart(part, where));
    return { ...request, messages, body: { ...request.body, messages } };
  }

  /** The same for an input of the responses format, and for what a tool has put out. */
  async inResponse(request: ResponsesRequest): Promise<ResponsesRequest> {
    const named = (item: JsonValue) => LISTS.some((list) => partsAt(item, list).some(namesInputFile));
    if (!request.input.some(named)) return request;
    const input = await this.#inAll(request.input, 'input', LISTS, (part, where) => this.#inputPart(part, where));
    return { ...request, input: input.filter(isObject) };
  }

  /** One after the other, so that their bytes share one bound. */
  async #inAll(
    items: readonly JsonValue[],
    field: string,
    lists: readonly string[],
    toPart: (part: JsonValue, where: string) => Promise<JsonValue>,
  ): Promise<JsonValue[]> {
    const all: JsonValue[] = [];
    for (const [place, item] of items.entries()) {
      const changed: Record<string, JsonValue> = {};
      for (const list of lists) {
        const parts: JsonValue[] = [];
        for (const [at, part] of partsAt(item, list).entries()) {
          parts.push(await toPart(part, `${field}[${place}].${list}[${at}]`));
        }
        if (parts.length > 0) changed[list] = parts;
      }
      all.push(isObject(item) ? { ...item, ...changed } : item);
    }
    return all;
  }

  async #chatPart(part: JsonValue, where: string): Promise<JsonValue> {
    const id = chatFileId(part);
    if (id === undefined || !isObject(part)) return part;
    const { file, url } = await this.#open(id, `${where}.file.file_id`);
    if (isPicture(file)) return { type: 'image_url', image_url: { url } };
    return { ...part, file: { filename: file.fileName, file_data: url } };
  }

  async #inputPart(part: JsonValue, where: string): Promise<JsonValue> {
    const id = responsesFileId(part);
    if (id === undefined || !isObject(part)) return part;
    const { file, url } = await this.#open(id, `${where}.file_id`);
    const { file_id: _, ...rest } = part;
    const detail = stringAt(part, 'detail');
    if (isPicture(file)) return { type: 'input_image', image_url: url, ...(detail !== undefined && { detail }) };
    if (part.type === 'input_image') throw invalid(`${where}.file_id`, 'is not a picture');
    return { ...rest, filename: file.fileName, file_data: url };
  }

  async #open(id: string, where: string): Promise<{ file: LinkedFile; url: string }> {
    try {
      const file = await namedFile(this.#deps, this.#caller, id);
      const content = this.#content ? await readFile(this.#deps, file, this.#bytesLeft) : Buffer.alloc(0);
      this.#bytesLeft -= content.length;
      return { file, url: `data:${file.mimeType};base64,${content.toString('base64')}` };
    } catch (error) {
      if (!(error instanceof ApiError) || error.param !== null) throw error;
      throw new ApiError(error.code, { param: where, cause: error });
    }
  }
}

/** Where an item of the responses format may have parts. */
const LISTS = ['content', 'output'];

function partsAt(item: JsonValue, list: string): readonly JsonValue[] {
  const parts = isObject(item) ? item[list] : undefined;
  return isList(parts) ? parts : [];
}

function chatFileId(part: JsonValue): string | undefined {
  if (!isObject(part) || part.type !== 'file') return undefined;
  return stringAt(objectAt(part, 'file'), 'file_id');
}

function responsesFileId(part: JsonValue): string | undefined {
  if (!isObject(part) || (part.type !== 'input_image' && part.type !== 'input_file')) return undefined;
  return stringAt(part, 'file_id');
}

function namesChatFile(part: JsonValue): boolean {
  return chatFileId(part) !== undefined;
}

function namesInputFile(part: JsonValue): boolean {
  return responsesFileId(part) !== undefined;
}

function isPicture({ mimeType }: LinkedFile): boolean {
  return mimeType.startsWith('image/');
}
