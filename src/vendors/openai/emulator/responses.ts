import { isObject, objectIn } from '../../emulator/json.ts';
import type { Answer, Speaker } from './answers.ts';
import {
  type Check,
  type IncomingCall,
  isFlag,
  isOneOf,
  isText,
  isWhole,
  isWithin,
  type Refusal,
  refusalOfEnvelope,
  refusalOfFields,
  refusalOfModel,
  type Terms,
  wrong,
} from './checks.ts';

type Json = Record<string, unknown>;

const isList: Check = (value) => Array.isArray(value);

/** Every field of the request, by the vendor's description of it. */
const FIELDS: Readonly<Record<string, Check>> = {
  model: isText,
  input: (value) => isText(value) || isList(value),
  instructions: isText,
  stream: isFlag,
  stream_options: isObject,
  store: isFlag,
  background: isFlag,
  max_output_tokens: (value) => isWhole(value) && Number(value) >= 16,
  max_tool_calls: isWhole,
  temperature: isWithin(0, 2),
  top_p: isWithin(0, 1),
  top_logprobs: isWithin(0, 20),
  tools: (value) => Array.isArray(value) && value.every((tool) => isObject(tool) && isText(tool.type)),
  tool_choice: (value) => isOneOf('none', 'auto', 'required')(value) || isObject(value),
  parallel_tool_calls: isFlag,
  text: isObject,
  reasoning: isObject,
  include: isList,
  metadata: isObject,
  user: isText,
  safety_identifier: isText,
  prompt_cache_key: isText,
  service_tier: isOneOf('auto', 'default', 'flex', 'scale', 'priority', 'fast'),
  truncation: isOneOf('auto', 'disabled'),
  previous_response_id: isText,
  conversation: (value) => isText(value) || isObject(value),
  prompt: isObject,
};

/** Undefined if the vendor would take the request. */
export function refusalOfResponse(call: IncomingCall, terms: Terms): Refusal | undefined {
  const refusal = refusalOfEnvelope(call, terms);
  if (refusal !== undefined) return refusal;
  const body = objectIn(call.bytes);
  if (body === undefined) return wrong('We could not parse the JSON body of your request.');
  if (!isText(body.model)) return wrong("Missing required parameter: 'model'.", 'model', 'missing_required_parameter');
  return refusalOfModel(String(body.model), terms) ?? refusalOfFields(body, terms, FIELDS) ?? refusalOfInput(body);
}

/** Nothing that was made elsewhere is known here. */
function refusalOfInput({ input }: Json): Refusal | undefined {
  if (!Array.isArray(input)) return undefined;
  for (const [at, item] of input.entries()) {
    if (!isObject(item)) return wrong(`Invalid type for 'input[${at}]'.`, `input[${at}]`, 'invalid_type');
    if (item.type === 'item_reference')
      return { ...wrong(`Item with id '${String(item.id)}' not found.`), status: 404 };
    const content = item.encrypted_content;
    if (item.type === 'reasoning' && content !== `${SECRET}${String(item.id)}`) {
      return wrong('The encrypted content could not be verified.', null, 'invalid_encrypted_content');
    }
  }
  return undefined;
}

const SECRET = 'gAAAA-';

/** A whole response object. */
export function responseOf(answer: Answer, speaker: Speaker, body: Json): Json {
  return {
    ...headOf(speaker, body),
    status: statusOf(answer),
    output: outputOf(answer, speaker),
    usage: usageOf(answer),
  };
}

/** The events of the same answer, as text. */
export function* eventsOf(answer: Answer, speaker: Speaker, body: Json): Iterable<string> {
  let number = 0;
  const event = (type: string, fields: Json) =>
    `event: ${type}\ndata: ${JSON.stringify({ type, sequence_number: number++, ...fields })}\n\n`;
  const response = { ...headOf(speaker, body), status: 'in_progress', output: [], usage: null };
  yield event('response.created', { response });
  yield event('response.in_progress', { response });
  for (const [output_index, item] of outputOf(answer, speaker).entries()) {
    yield event('response.output_item.added', { output_index, item: begun(item) });
    if (item.type === 'message') {
      const place = { item_id: item.id, output_index, content_index: 0 };
      const text = answer.text ?? 'Hello there.';
      yield event('response.content_part.added', {
        ...place,
        part: { type: 'output_text', text: '', annotations: [] },
      });
      for (const delta of text.match(/\s*\S+/g) ?? []) {
        yield event('response.output_text.delta', { ...place, delta, logprobs: [], obfuscation: 'aBcD3f' });
      }
      yield event('response.output_text.done', { ...place, text, logprobs: [] });
      yield event('response.content_part.done', { ...place, part: partWith(text) });
    }
    yield event('response.output_item.done', { output_index, item });
  }
  const type = statusOf(answer) === 'completed' ? 'response.completed' : 'response.incomplete';
  yield event(type, { response: responseOf(answer, speaker, body) });
}

function begun(item: Json): Json {
  return { ...item, status: 'in_progress', ...(item.type === 'message' && { content: [] }) };
}

function statusOf({ finishReason }: Answer): string {
  return finishReason === 'length' ? 'incomplete' : 'completed';
}

function headOf({ marker, model }: Speaker, { include, store }: Json): Json {
  return {
    id: `resp_${marker}`,
    object: 'response',
    created_at: 1_763_000_000,
    model: `${model}-${marker}`,
    billing: { payer: marker },
    error: null,
    incomplete_details: null,
    include,
    store: store ?? true,
    service_tier: 'default',
  };
}

function outputOf({ text, reasoning, toolCalls }: Answer, { marker }: Speaker): Json[] {
  const rs = `rs_${marker}`;
  const thought = { id: rs, type: 'reasoning', summary: [{ type: 'summary_text', text: reasoning }] };
  const calls = (toolCalls ?? []).map(({ id, ...call }) => ({
    id: `fc_${id}_${marker}`,
    type: 'function_call',
    status: 'completed',
    call_id: id,
    ...call,
  }));
  const message = {
    id: `msg_${marker}`,
    type: 'message',
    role: 'assistant',
    status: 'completed',
    content: [partWith(text ?? 'Hello there.')],
  };
  return [
    ...(reasoning === undefined ? [] : [{ ...thought, encrypted_content: `${SECRET}${rs}` }]),
    ...(toolCalls === undefined || text !== undefined ? [message] : []),
    ...calls,
  ];
}

function partWith(text: string): Json {
  return { type: 'output_text', text, annotations: [], logprobs: [] };
}

/** From the counts that chat tells. */
function usageOf({ usage }: Answer): Json | null {
  if (usage === null) return null;
  const input = Number(usage?.prompt_tokens ?? 9);
  const output = Number(usage?.completion_tokens ?? 3);
  return {
    input_tokens: input,
    input_tokens_details: { cached_tokens: 0 },
    output_tokens: output,
    output_tokens_details: { reasoning_tokens: 0 },
    total_tokens: input + output,
  };
}
