import { ApiError } from '../../../src/errors.ts';
import type { JsonObject, JsonValue } from '../../../src/json.ts';
import { estimatePromptTokens, estimateTokens } from '../../../src/text/index.ts';
import type { TokenUsage } from '../../../src/vendors/vendor.ts';
import { schemaIn } from './prompt-schema.ts';
import { digest, type Random, seriesOf } from './random.ts';
import { fitting } from './schema.ts';
import { type Answer, answerTo, lastWords, type Turn } from './text.ts';
import { tokensOf } from './tokens.ts';

interface Tool {
  readonly name: string;
  readonly description: string;
  readonly schema: JsonObject;
}

/** What both wire formats ask for. */
export interface Prompt {
  readonly turns: readonly Turn[];
  readonly tools: readonly Tool[];
  readonly toolUse: 'none' | 'auto' | 'required';
  /** The only tools that may be called; undefined for all. */
  readonly toolNames: readonly string[] | undefined;
  readonly parallelCalls: boolean;
  /** The schema of the answer, `{}` for any object; undefined for text. */
  readonly json: JsonObject | undefined;
  /** Undefined to let the conversation decide. */
  readonly seed: string | undefined;
  readonly outputTokensMax: number | undefined;
  readonly stop: readonly string[];
}

export interface Reply {
  readonly tokens: readonly string[];
  readonly calls: readonly Call[];
  readonly finish: 'stop' | 'length' | 'calls';
  readonly outputTokens: number;
}

export interface Call {
  readonly id: string;
  readonly name: string;
  readonly arguments: JsonValue;
}

const OUTPUT_TOKENS_MAX = 4_096;
const CALLS_MAX = 4;
const DESCRIPTION_CHARS_MAX = 2_000;
const SCHEMA_CHARS_MAX = 32_768;
const TOKENS_PER_TURN = 4;
const TOKENS_PER_MEDIUM = 258;

/** Throws ApiError if the prompt contradicts itself, or has more to it than is worth reading. */
export function checkPrompt({ tools, toolUse, toolNames, json }: Prompt): void {
  const schemas = [json ?? {}, ...tools.map((tool) => tool.schema)];
  if (schemas.some((schema) => JSON.stringify(schema).length > SCHEMA_CHARS_MAX)) {
    throw new ApiError('invalid_parameter', { message: `A schema is longer than ${SCHEMA_CHARS_MAX} characters.` });
  }
  if (toolUse === 'required' && tools.length === 0) {
    throw new ApiError('invalid_parameter', { message: 'A tool call is required, but "tools" is empty.' });
  }
  if (toolNames?.some((name) => tools.every((tool) => tool.name !== name)) === true) {
    throw new ApiError('invalid_parameter', { message: 'The tool to be called is not among "tools".' });
  }
}

/** Several replies to one prompt, each its own; the same prompt and seed give the same ones again. */
export function repliesTo(prompt: Prompt, seed: string, count: number): readonly Reply[] {
  const tools = toolsFor(prompt);
  const answer = answerTo(prompt.turns);
  return Array.from({ length: count }, (_, index) => {
    const own = `${seed}/${index}`;
    return tools.length > 0 ? replyWithCalls(prompt, tools, own) : replyInWords(prompt, answer, own);
  });
}

/** What decides the replies, as hexadecimal digits: the seed that was given, else the conversation. */
export function seedOf({ seed, turns }: Prompt): string {
  return digest(seed ?? JSON.stringify(turns.map((turn) => ({ ...turn, text: shortened(turn.text) }))));
}

const SEED_CHARS_MAX = 65_536;

/** Of a very long text its ends and its length: all of it would keep the event loop. */
function shortened(text: string): string {
  if (text.length <= SEED_CHARS_MAX) return text;
  const half = SEED_CHARS_MAX / 2;
  return `${text.slice(0, half)}${text.length}${text.slice(-half)}`;
}

/** Never more than what an estimate of the same prompt holds credits for. */
export function inputTokensOf({ turns, tools }: Prompt): number {
  const spoken = turns.reduce(
    (sum, { text, media }) => sum + TOKENS_PER_TURN + estimateTokens(text) + media.length * TOKENS_PER_MEDIUM,
    0,
  );
  return spoken + (tools.length === 0 ? 0 : estimatePromptTokens(tools));
}

export function usageOf(inputTokens: number, outputTokens: number): TokenUsage {
  return { inputTokens, cachedTokens: 0, outputTokens, reasoningTokens: 0 };
}

function replyInWords(prompt: Prompt, answer: Answer, seed: string): Reply {
  const random = seriesOf(seed);
  const text = answer(random);
  const whole = prompt.json === undefined ? text : jsonFor(prompt, prompt.json, text, random);
  const tokens = tokensOf(beforeStop(whole, prompt.stop));
  const limit = limitOf(prompt);
  const isCut = tokens.length > limit;
  const output = isCut ? tokens.slice(0, limit) : tokens;
  return { tokens: output, calls: [], finish: isCut ? 'length' : 'stop', outputTokens: output.length };
}

function limitOf({ outputTokensMax }: Prompt): number {
  return Math.min(outputTokensMax ?? OUTPUT_TOKENS_MAX, OUTPUT_TOKENS_MAX);
}

function jsonFor({ turns }: Prompt, schema: JsonObject, answer: string, random: Random): string {
  const question = lastWords(turns);
  // A request for JSON without a schema often describes one in words.
  const target = Object.keys(schema).length === 0 ? schemaIn(turns) : schema;
  if (target === undefined) return JSON.stringify({ asked: question, answer });
  return JSON.stringify(fitting(target, { question, answer, random }));
}

function beforeStop(text: string, stops: readonly string[]): string {
  const ends = stops.map((stop) => text.indexOf(stop)).filter((end) => end !== -1);
  return ends.length === 0 ? text : text.slice(0, Math.min(...ends));
}

/** A call is given whole or not at all: half of its arguments would be no JSON. */
function replyWithCalls(prompt: Prompt, tools: readonly Tool[], seed: string): Reply {
  const { turns } = prompt;
  const question = lastWords(turns);
  const calls = tools.map(({ name, schema }, at) => {
    const random = seriesOf(`${seed}/${name}`);
    const values = fitting({ type: 'object', ...schema }, { question, answer: question, random });
    return { id: `call_${digest(`${seed}/${turns.length}/${at}`).slice(0, 24)}`, name, arguments: values };
  });
  const outputTokens = tokensOf(JSON.stringify(calls.map((call) => [call.name, call.arguments]))).length;
  if (outputTokens > limitOf(prompt)) return { tokens: [], calls: [], finish: 'length', outputTokens: 0 };
  return { tokens: [], calls, finish: 'calls', outputTokens };
}

/** The tools to be called now: those that must be, or those that the user's words are about. */
function toolsFor({ turns, tools, toolUse, toolNames, parallelCalls }: Prompt): readonly Tool[] {
  const allowed = toolNames === undefined ? tools : tools.filter(({ name }) => toolNames.includes(name));
  if (toolUse === 'none' || allowed.length === 0) return [];
  // The result of a call is to be told, not asked for again.
  if (toolUse === 'auto' && turns.at(-1)?.role !== 'user') return [];
  const words = new Set(wordsOf(lastWords(turns)));
  const scored = allowed.map((tool) => ({ tool, score: likeness(tool, words) })).filter(({ score }) => score > 0);
  const matching = scored.sort((left, right) => right.score - left.score).map(({ tool }) => tool);
  const chosen = matching.length === 0 && toolUse === 'required' ? allowed.slice(0, 1) : matching;
  return chosen.slice(0, parallelCalls ? CALLS_MAX : 1);
}

const EMPTY_WORDS = new Set(
  'get set find fetch make create do run call use for the and with from that this what which who how are you can given return about into user value tool function'.split(
    ' ',
  ),
);

/** One word of the name is enough; of the description it takes two. */
function likeness({ name, description }: Tool, words: ReadonlySet<string>): number {
  const named = wordsOf(name.slice(0, DESCRIPTION_CHARS_MAX).replace(/(?<=[a-z])(?=[A-Z])/g, ' ')).filter((word) =>
    words.has(word),
  ).length;
  const described = new Set(wordsOf(description.slice(0, DESCRIPTION_CHARS_MAX)).filter((word) => words.has(word)))
    .size;
  return named > 0 ? 10 * named + described : described >= 2 ? described : 0;
}

function wordsOf(text: string): string[] {
  const words = text.toLowerCase().match(/[\p{L}\d]{3,}/gu) ?? [];
  return words.filter((word) => !EMPTY_WORDS.has(word)).map((word) => word.replace(/(?<=\w{3})s$/, ''));
}
