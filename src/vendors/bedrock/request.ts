import { ApiError } from '../../errors.ts';
import type { JsonObject } from '../../json.ts';
import type { ChatRequest } from '../../schemas/index.ts';
import { unsupported } from '../../unsupported.ts';
import { toConversation } from '../formats/messages/index.ts';
import {
  functionsIn,
  refuseUntranslated,
  responseFormatIn,
  stopSequencesIn,
  toolChoiceIn,
} from '../kit/chat-fields.ts';
import { isObject, itemsAt, listAt, objectAt, objectsAt, stringAt } from '../kit/json.ts';
import { invalid } from '../kit/refusals.ts';
import type { WireValue } from '../kit/wire.ts';

/** A chat request as Converse has it, one shape for the models of every family. Throws ApiError. */
export function toWire(request: ChatRequest): WireValue {
  const { body } = request;
  if (request.n > 1) throw unsupported('n', { atMost: 1 });
  refuseUntranslated(body, TRANSLATED, NEUTRAL);
  if (responseFormatIn(body).type !== 'text') throw unsupported('response_format', 'another value');
  const { system, messages } = toConversation(itemsAt(body, 'messages'));
  if (messages.length === 0) {
    throw new ApiError('missing_messages', { message: 'Give at least one message that says something to the model.' });
  }
  const turns = messages.map((message) => toTurn(isObject(message) ? message : {}));
  return {
    messages: turns,
    system: system.length > 0 ? system.map((block) => toBlock(isObject(block) ? block : {})) : undefined,
    inferenceConfig: {
      maxTokens: request.maxOutputTokens ?? request.heldOutputTokens,
      temperature: body.temperature ?? undefined,
      topP: body.top_p ?? undefined,
      stopSequences: stopSequencesIn(body),
    },
    toolConfig: toToolConfig(body, JSON.stringify(turns).includes('"toolUseId"')),
  };
}

/** Translated, or left out because they change nothing in the answer. */
const TRANSLATED = new Set([
  ...['model', 'messages', 'n', 'stream', 'stream_options', 'max_tokens', 'max_completion_tokens', 'stop'],
  ...['tools', 'tool_choice', 'response_format', 'temperature', 'top_p', 'user', 'safety_identifier', 'metadata'],
  ...['store', 'service_tier', 'prompt_cache_key', 'prompt_cache_retention', 'verbosity', 'prediction'],
]);

/** Fields that change what the answer is, with the values that do not. */
const NEUTRAL: ReadonlyMap<string, readonly string[]> = new Map([
  ['logprobs', ['false']],
  ['top_logprobs', ['0']],
  ['logit_bias', ['{}']],
  ['functions', ['[]']],
  ['modalities', ['[]', '["text"]']],
  ['parallel_tool_calls', ['true']],
  ['presence_penalty', ['0']],
  ['frequency_penalty', ['0']],
  ['reasoning_effort', ['"none"']],
]);

function toTurn(message: JsonObject): WireValue {
  return { role: message.role, content: objectsAt(message, 'content').map(toBlock) };
}

function toBlock(block: JsonObject): JsonObject {
  switch (stringAt(block, 'type') ?? '') {
    case 'text':
      return { text: block.text ?? '' };
    case 'image':
      return { image: { format: formatOf(block), source: { bytes: base64Of(block) } } };
    case 'document':
      return { document: toDocument(block) };
    case 'tool_use':
      return { toolUse: { toolUseId: block.id ?? '', name: block.name ?? '', input: block.input ?? {} } };
    default:
      return { toolResult: { toolUseId: block.tool_use_id ?? '', content: toResults(block) } };
  }
}

function formatOf(block: JsonObject): string {
  return (stringAt(objectAt(block, 'source'), 'media_type') ?? '').replace(/^image\//, '');
}

/** The interface fetches nothing. */
function base64Of(block: JsonObject): string {
  const source = objectAt(block, 'source');
  if (source?.type === 'url') throw unsupported('messages', { oneOf: ['pictures and files as data URLs'] });
  return stringAt(source, 'data') ?? '';
}

/** A document must have a name, of letters, digits and single spaces. */
function toDocument(block: JsonObject): JsonObject {
  const isText = objectAt(block, 'source')?.type === 'text';
  const data = base64Of(block);
  const name = (stringAt(block, 'title') ?? '')
    .replaceAll(/[^A-Za-z0-9]+/g, ' ')
    .trim()
    .slice(0, 100);
  const bytes = isText ? Buffer.from(data, 'utf8').toString('base64') : data;
  return { format: isText ? 'txt' : 'pdf', name: name === '' ? 'document' : name, source: { bytes } };
}

function toResults(block: JsonObject): JsonObject[] {
  if (listAt(block, 'content') !== undefined) return objectsAt(block, 'content').map(toBlock);
  return [{ text: stringAt(block, 'content') ?? '' }];
}

/** Without tools, a conversation that used some is refused; a choice of none can only be told by leaving them out. */
function toToolConfig(body: JsonObject, hasToolBlocks: boolean): WireValue {
  const tools = functionsIn(body).map(({ name, description, parameters, isStrict }) => ({
    toolSpec: {
      name,
      description,
      inputSchema: { json: { type: 'object', ...parameters } },
      strict: isStrict || undefined,
    },
  }));
  const choice = toolChoiceIn(body);
  if (tools.length === 0) {
    if (choice === 'required' || typeof choice === 'object') throw invalid('tool_choice', 'needs "tools"');
    if (hasToolBlocks) throw invalid('tools', 'is missing, and the messages use some');
    return undefined;
  }
  if (choice === 'none') {
    if (hasToolBlocks) throw unsupported('tool_choice', 'another value');
    return undefined;
  }
  if (choice === undefined) return { tools };
  if (typeof choice === 'object') return { tools, toolChoice: { tool: { name: choice.name } } };
  return { tools, toolChoice: choice === 'required' ? { any: {} } : { auto: {} } };
}
