import { z } from 'zod';
import type { JsonObject } from '../../../src/json.ts';
import { parseWith } from '../../../src/parse.ts';
import type { ChatRequest } from '../../../src/schemas/index.ts';
import { unsupported } from '../../../src/unsupported.ts';
import { isObject } from '../../../src/vendors/kit/json.ts';
import type { ChatChunk, ChatWork } from '../../../src/vendors/vendor.ts';
import { delivered, type FailureCounts, type Faults, faultsOf, injectFault, plain } from './faults.ts';
import { ofData, ofUrl } from './media.ts';
import { type Call, checkPrompt, inputTokensOf, type Prompt, type Reply, repliesTo, seedOf, usageOf } from './reply.ts';
import type { Turn } from './text.ts';

/** Chat completions from the built-in generator. */
export function chatWork(failures: FailureCounts): ChatWork {
  return {
    async complete(request, upstream) {
      const { prompt, faults } = read(request);
      await injectFault(faults, upstream, failures, { bytes: () => JSON.stringify(request.body), isStream: false });
      const seed = seedOf(prompt);
      const replies = repliesTo(prompt, seed, request.n);
      const outputTokens = replies.reduce((sum, reply) => sum + reply.outputTokens, 0);
      const body = { ...head(seed, upstream.model, 'chat.completion'), choices: replies.map(choice) };
      return { body, usage: usageOf(inputTokensOf(prompt), outputTokens) };
    },
    async stream(request, upstream) {
      const { prompt, faults } = read(request);
      const cut = await injectFault(faults, upstream, failures, {
        bytes: () => JSON.stringify(request.body),
        isStream: true,
      });
      const seed = seedOf(prompt);
      const start = head(seed, upstream.model, 'chat.completion.chunk');
      const chunks = chunksOf(repliesTo(prompt, seed, request.n), inputTokensOf(prompt), start);
      return delivered(chunks, cut, upstream.signal);
    },
  };
}

function head(seed: string, model: string, object: string): JsonObject {
  return { id: `chatcmpl-${seed.slice(0, 24)}`, object, created: 0, model };
}

function choice({ tokens, calls, finish }: Reply, index: number): JsonObject {
  const text = { role: 'assistant', content: calls.length > 0 ? null : tokens.join(''), refusal: null };
  const message = calls.length > 0 ? { ...text, tool_calls: calls.map(callView) } : text;
  return { index, message, logprobs: null, finish_reason: FINISH[finish] };
}

const FINISH = { stop: 'stop', length: 'length', calls: 'tool_calls' } as const;

function callView(call: Call): JsonObject {
  return { id: call.id, type: 'function', function: { name: call.name, arguments: JSON.stringify(call.arguments) } };
}

/** Several replies come turn by turn, a word of each. */
function* chunksOf(replies: readonly Reply[], inputTokens: number, start: JsonObject): Iterable<ChatChunk> {
  let outputTokens = 0;
  const chunk = (index: number, delta: JsonObject, finish: string | null): ChatChunk => ({
    body: { ...start, choices: [{ index, delta, logprobs: null, finish_reason: finish }] },
    usage: usageOf(inputTokens, outputTokens),
  });
  for (const [index, { calls }] of replies.entries()) {
    yield chunk(index, { role: 'assistant', content: calls.length > 0 ? null : '' }, null);
  }
  const longest = Math.max(...replies.map((reply) => reply.tokens.length));
  for (let at = 0; at < longest; at++) {
    for (const [index, { tokens }] of replies.entries()) {
      const content = tokens[at];
      if (content === undefined) continue;
      outputTokens++;
      yield chunk(index, { content }, null);
    }
  }
  for (const [index, reply] of replies.entries()) {
    for (const delta of callDeltas(reply.calls)) yield chunk(index, { tool_calls: [delta] }, null);
    outputTokens += reply.outputTokens - reply.tokens.length;
    yield chunk(index, {}, FINISH[reply.finish]);
  }
}

/** As models do: the name first, then the arguments in pieces. */
function* callDeltas(calls: readonly Call[]): Iterable<JsonObject> {
  for (const [index, { id, name, arguments: values }] of calls.entries()) {
    yield { index, id, type: 'function', function: { name, arguments: '' } };
    for (const piece of JSON.stringify(values).match(/[\s\S]{1,16}/g) ?? []) {
      yield { index, function: { arguments: piece } };
    }
  }
}

const part = z.discriminatedUnion('type', [
  z.looseObject({ type: z.literal('text'), text: z.string() }),
  z.looseObject({ type: z.literal('refusal'), refusal: z.string() }),
  z.looseObject({ type: z.literal('image_url'), image_url: z.looseObject({ url: z.string() }) }),
  z.looseObject({
    type: z.literal('input_audio'),
    input_audio: z.looseObject({ data: z.string(), format: z.string() }),
  }),
  z.looseObject({ type: z.literal('file'), file: z.looseObject({ file_data: z.string().nullish() }) }),
]);
type Part = z.output<typeof part>;

const message = z.looseObject({
  role: z.enum(['developer', 'system', 'user', 'assistant', 'tool', 'function']),
  content: z.union([z.string(), z.array(part)]).nullish(),
  name: z.string().nullish(),
  tool_call_id: z.string().nullish(),
  tool_calls: z
    .array(z.looseObject({ id: z.string(), function: z.looseObject({ name: z.string() }).nullish() }))
    .nullish(),
});
type Message = z.output<typeof message>;

const jsonObject = z.custom<JsonObject>(isObject, { error: 'Invalid input: expected object' });
const stopText = z.string().min(1);

const bodySchema = z.looseObject({
  messages: z.array(message),
  tools: z.array(
    z.looseObject({
      type: z.literal('function'),
      function: z.looseObject({
        name: z.string().min(1),
        description: z.string().nullish(),
        parameters: jsonObject.nullish(),
      }),
    }),
  ),
  tool_choice: z
    .union([
      z.enum(['none', 'auto', 'required']),
      z.looseObject({ type: z.literal('function'), function: z.looseObject({ name: z.string() }) }),
    ])
    .nullish(),
  parallel_tool_calls: z.boolean().nullish(),
  response_format: z
    .discriminatedUnion('type', [
      z.looseObject({ type: z.literal('text') }),
      z.looseObject({ type: z.literal('json_object') }),
      z.looseObject({ type: z.literal('json_schema'), json_schema: z.looseObject({ schema: jsonObject.nullish() }) }),
    ])
    .nullish(),
  stop: z.union([stopText, z.array(stopText).max(4)]).nullish(),
  seed: z.number().nullish(),
});

const READ_KEYS = ['tool_choice', 'parallel_tool_calls', 'response_format', 'stop', 'seed', 'sandbox', 'extra'];

/** Everything is checked before anything else happens. */
function read(request: ChatRequest): { prompt: Prompt; faults: Faults | undefined } {
  refuseUnsupported(request);
  const settings = plain(request.body, READ_KEYS);
  const faults = faultsOf(settings);
  const body = parseWith(bodySchema, { ...settings, messages: request.messages, tools: request.tools });
  const { tool_choice: toolChoice, response_format: format, stop } = body;
  const prompt: Prompt = {
    turns: turnsOf(body.messages),
    tools: body.tools.map(({ function: { name, description, parameters } }) => ({
      name,
      description: description ?? '',
      schema: parameters ?? {},
    })),
    toolUse: typeof toolChoice === 'string' ? toolChoice : toolChoice == null ? 'auto' : 'required',
    toolNames: typeof toolChoice === 'object' && toolChoice !== null ? [toolChoice.function.name] : undefined,
    parallelCalls: body.parallel_tool_calls ?? true,
    json:
      format?.type === 'json_schema'
        ? (format.json_schema.schema ?? {})
        : format?.type === 'json_object'
          ? {}
          : undefined,
    seed: body.seed == null ? undefined : JSON.stringify(request.body.seed),
    outputTokensMax: request.maxOutputTokens,
    stop: typeof stop === 'string' ? [stop] : (stop ?? []),
  };
  checkPrompt(prompt);
  return { prompt, faults };
}

const TEXT_ONLY = JSON.stringify(['text']);

function refuseUnsupported({ body }: ChatRequest): void {
  const { audio, functions, function_call: call, logprobs, modalities } = body;
  const refused = {
    audio: audio != null,
    functions: functions != null,
    function_call: call != null,
    logprobs: logprobs === true,
    modalities: modalities != null && JSON.stringify(modalities) !== TEXT_ONLY,
  };
  for (const [name, isGiven] of Object.entries(refused)) {
    if (isGiven) throw unsupported(name);
  }
}

const ROLES = {
  developer: 'system',
  system: 'system',
  user: 'user',
  assistant: 'model',
  tool: 'tool',
  function: 'tool',
} as const;

function turnsOf(messages: readonly Message[]): Turn[] {
  const called = new Map<string, string>();
  return messages.map(({ role, content, name, tool_calls: calls, tool_call_id: callId }) => {
    for (const call of calls ?? []) called.set(call.id, call.function?.name ?? '');
    const parts: readonly Part[] = typeof content === 'string' ? [{ type: 'text', text: content }] : (content ?? []);
    const tool = ROLES[role] === 'tool' ? (called.get(callId ?? '') ?? name ?? '') : '';
    return { role: ROLES[role], text: parts.flatMap(textOf).join('\n'), media: parts.flatMap(mediaOf), tool };
  });
}

function textOf(part: Part): string[] {
  if (part.type === 'text') return [part.text];
  return part.type === 'refusal' ? [part.refusal] : [];
}

function mediaOf(part: Part): string[] {
  switch (part.type) {
    case 'text':
    case 'refusal':
      return [];
    case 'image_url':
      return [ofUrl(part.image_url.url)];
    case 'input_audio':
      return [ofData(`audio/${part.input_audio.format}`, part.input_audio.data)];
    case 'file':
      return [part.file.file_data == null ? 'a file' : ofUrl(part.file.file_data)];
  }
}
