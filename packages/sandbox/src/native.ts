import { z } from 'zod';
import { ApiError } from '../../../src/errors.ts';
import { JsonError, type JsonObject, parseJson } from '../../../src/json.ts';
import { parseWith } from '../../../src/parse.ts';
import { unsupported } from '../../../src/unsupported.ts';
import type { Upstream } from '../../../src/vendors/kit/http.ts';
import { isObject } from '../../../src/vendors/kit/json.ts';
import type { NativeFrame, NativeRequest, NativeWork, TokenUsage } from '../../../src/vendors/vendor.ts';
import { delivered, type FailureCounts, faultsOf, injectFault } from './faults.ts';
import { ofData, ofUrl } from './media.ts';
import { checkPrompt, inputTokensOf, type Prompt, type Reply, repliesTo, seedOf, usageOf } from './reply.ts';
import type { Turn } from './text.ts';

const CANDIDATES_MAX = 8;

/** The native format from the built-in generator. */
export function nativeWork(failures: FailureCounts): NativeWork {
  return {
    async call(request, upstream) {
      const { prompt, count } = await begin(request, upstream, failures, false);
      const contentType = 'application/json; charset=UTF-8';
      const inputTokens = inputTokensOf(prompt);
      if (request.action === 'countTokens') {
        return { contentType, body: Buffer.from(JSON.stringify(countView(inputTokens))), usage: undefined };
      }
      const seed = seedOf(prompt);
      const replies = repliesTo(prompt, seed, count);
      const outputTokens = replies.reduce((sum, reply) => sum + reply.outputTokens, 0);
      const usage = usageOf(inputTokens, outputTokens);
      const candidates = replies.map((reply, index) => candidate(reply.tokens.join(''), reply, index, true));
      const body = JSON.stringify({ candidates, usageMetadata: usageView(usage), ...end(seed, upstream) });
      return { contentType, body: Buffer.from(body), usage };
    },
    async stream(request, upstream) {
      const { prompt, count, cut } = await begin(request, upstream, failures, true);
      const seed = seedOf(prompt);
      const frames = framesOf(repliesTo(prompt, seed, count), inputTokensOf(prompt), end(seed, upstream));
      return { contentType: 'text/event-stream', frames: delivered(frames, cut, upstream.signal) };
    },
  };
}

async function begin({ body, action }: NativeRequest, upstream: Upstream, failures: FailureCounts, isStream: boolean) {
  const json = jsonOf(body);
  const faults = faultsOf(json);
  const { prompt, count } = read(action === 'countTokens' ? counted(json) : json);
  const cut = await injectFault(faults, upstream, failures, { bytes: () => body, isStream });
  return { prompt, count, cut };
}

function jsonOf(body: Buffer): JsonObject {
  const value = parsed(body.toString('utf8'));
  if (!isObject(value)) throw new ApiError('bad_request_body');
  return value;
}

function parsed(text: string): unknown {
  try {
    return parseJson(text).value;
  } catch (error) {
    if (error instanceof JsonError) throw new ApiError('bad_request_body', { message: error.message, cause: error });
    throw error;
  }
}

/** What is to be counted may be wrapped as the whole request that would be made. */
function counted(json: JsonObject): unknown {
  return json.generateContentRequest ?? json.generate_content_request ?? json;
}

function countView(totalTokens: number): JsonObject {
  return { totalTokens, promptTokensDetails: [{ modality: 'TEXT', tokenCount: totalTokens }] };
}

/** A word of each candidate in turn; usage is a running total, and the last frame of each has its end. */
function* framesOf(replies: readonly Reply[], inputTokens: number, rest: JsonObject): Iterable<NativeFrame> {
  const longest = Math.max(1, ...replies.map((reply) => reply.tokens.length));
  let outputTokens = 0;
  for (let at = 0; at < longest; at++) {
    for (const [index, reply] of replies.entries()) {
      const isLast = at === Math.max(0, reply.tokens.length - 1);
      if (at >= reply.tokens.length && !isLast) continue;
      outputTokens += reply.tokens.length === 0 ? reply.outputTokens : 1;
      const usage = usageOf(inputTokens, outputTokens);
      const candidates = [candidate(reply.tokens[at] ?? '', reply, index, isLast)];
      const data = JSON.stringify({ candidates, usageMetadata: usageView(usage), ...rest });
      yield { bytes: Buffer.from(`data: ${data}\r\n\r\n`), data, usage };
    }
  }
}

const FINISH = { stop: 'STOP', length: 'MAX_TOKENS', calls: 'STOP' } as const;

function candidate(text: string, { calls, finish }: Reply, index: number, isLast: boolean): JsonObject {
  const spoken = text === '' && calls.length > 0 ? [] : [{ text }];
  const called = calls.map(({ id, name, arguments: args }) => ({ functionCall: { id, name, args } }));
  const content = { parts: isLast ? [...spoken, ...called] : spoken, role: 'model' };
  return isLast ? { content, finishReason: FINISH[finish], index } : { content, index };
}

function usageView({ inputTokens, outputTokens }: TokenUsage): JsonObject {
  return {
    promptTokenCount: inputTokens,
    candidatesTokenCount: outputTokens,
    totalTokenCount: inputTokens + outputTokens,
    promptTokensDetails: [{ modality: 'TEXT', tokenCount: inputTokens }],
  };
}

function end(seed: string, upstream: Upstream): JsonObject {
  return { modelVersion: upstream.model, responseId: seed.slice(0, 22) };
}

const jsonObject = z.custom<JsonObject>(isObject, { error: 'Invalid input: expected object' });

/** The format takes the names of its fields in both spellings. Names inside a caller's own data are left alone. */
function camel<Shape extends z.ZodRawShape>(shape: Shape) {
  return z.preprocess((value) => (isObject(value) ? inCamelCase(value) : value), z.looseObject(shape));
}

function inCamelCase(value: JsonObject): JsonObject {
  const rename = (name: string) => name.replace(/_([a-z])/g, (_, letter: string) => letter.toUpperCase());
  return Object.fromEntries(Object.entries(value).map(([name, held]) => [rename(name), held]));
}

const part = camel({
  text: z.string().nullish(),
  inlineData: camel({ mimeType: z.string(), data: z.string() }).nullish(),
  fileData: camel({ fileUri: z.string() }).nullish(),
  functionResponse: camel({ name: z.string(), response: jsonObject.nullish() }).nullish(),
});
const content = camel({ role: z.enum(['user', 'model', 'function', 'system']).nullish(), parts: z.array(part) });
type Content = z.output<typeof content>;

const declaration = camel({
  name: z.string().min(1),
  description: z.string().nullish(),
  parameters: jsonObject.nullish(),
  parametersJsonSchema: jsonObject.nullish(),
});

const requestSchema = camel({
  contents: z.array(content).min(1),
  systemInstruction: z.union([z.string(), content]).nullish(),
  tools: z.array(camel({ functionDeclarations: z.array(declaration).nullish() })).nullish(),
  toolConfig: camel({
    functionCallingConfig: camel({
      mode: z.enum(['MODE_UNSPECIFIED', 'AUTO', 'ANY', 'NONE', 'VALIDATED']).nullish(),
      allowedFunctionNames: z.array(z.string()).nullish(),
    }).nullish(),
  }).nullish(),
  generationConfig: camel({
    candidateCount: z.int().min(1).max(CANDIDATES_MAX).nullish(),
    maxOutputTokens: z.int().min(1).nullish(),
    stopSequences: z.array(z.string().min(1)).max(5).nullish(),
    seed: z.number().nullish(),
    responseMimeType: z.enum(['text/plain', 'application/json']).nullish(),
    responseSchema: jsonObject.nullish(),
    responseJsonSchema: jsonObject.nullish(),
    responseModalities: z.array(z.string()).nullish(),
  }).nullish(),
  cachedContent: z.string().nullish(),
});
type NativeBody = z.output<typeof requestSchema>;

function read(json: unknown): { prompt: Prompt; count: number } {
  const body = parseWith(requestSchema, json);
  refuseUnsupported(body);
  const generation = body.generationConfig;
  const calling = body.toolConfig?.functionCallingConfig;
  const names = calling?.allowedFunctionNames ?? [];
  const schema = generation?.responseJsonSchema ?? generation?.responseSchema;
  const prompt: Prompt = {
    turns: [...systemTurns(body.systemInstruction ?? undefined), ...body.contents.flatMap(turnsOf)],
    tools: (body.tools ?? [])
      .flatMap((tool) => tool.functionDeclarations ?? [])
      .map(({ name, description, parameters, parametersJsonSchema }) => ({
        name,
        description: description ?? '',
        schema: parametersJsonSchema ?? parameters ?? {},
      })),
    toolUse: calling?.mode === 'ANY' ? 'required' : calling?.mode === 'NONE' ? 'none' : 'auto',
    toolNames: names.length === 0 ? undefined : names,
    parallelCalls: true,
    json: generation?.responseMimeType === 'application/json' ? (schema ?? {}) : undefined,
    seed: generation?.seed == null ? undefined : String(generation.seed),
    outputTokensMax: generation?.maxOutputTokens ?? undefined,
    stop: generation?.stopSequences ?? [],
  };
  checkPrompt(prompt);
  return { prompt, count: generation?.candidateCount ?? 1 };
}

function refuseUnsupported({ cachedContent, tools, generationConfig }: NativeBody): void {
  const otherTool = tools?.find((tool) => tool.functionDeclarations == null);
  const otherModality = generationConfig?.responseModalities?.some((modality) => modality !== 'TEXT') ?? false;
  const refused = {
    cachedContent: cachedContent != null,
    [`tools.${Object.keys(otherTool ?? {})[0] ?? ''}`]: otherTool !== undefined,
    'generationConfig.responseModalities': otherModality,
  };
  for (const [name, isGiven] of Object.entries(refused)) {
    if (isGiven) throw unsupported(name);
  }
}

function systemTurns(instruction: string | Content | undefined): Turn[] {
  if (instruction === undefined) return [];
  const text = typeof instruction === 'string' ? instruction : textIn(instruction);
  return [{ role: 'system', text, media: [], tool: '' }];
}

/** What tools returned comes inside a user's turn, and is a turn of its own here. */
function turnsOf(content: Content): Turn[] {
  const results = content.parts.flatMap(({ functionResponse: result }): Turn[] =>
    result == null ? [] : [{ role: 'tool', text: JSON.stringify(result.response ?? {}), media: [], tool: result.name }],
  );
  const media = content.parts.flatMap(({ inlineData, fileData }) => [
    ...(inlineData == null ? [] : [ofData(inlineData.mimeType, inlineData.data)]),
    ...(fileData == null ? [] : [ofUrl(fileData.fileUri)]),
  ]);
  const text = textIn(content);
  if (results.length > 0 && text === '' && media.length === 0) return results;
  return [{ role: content.role === 'model' ? 'model' : 'user', text, media, tool: '' }, ...results];
}

function textIn(content: Content): string {
  return content.parts.flatMap(({ text }) => (text == null ? [] : [text])).join('\n');
}
