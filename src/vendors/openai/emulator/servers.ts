import type { Quirks } from './answers.ts';
import { type Check, isOneOf, isText } from './checks.ts';

type Json = Record<string, unknown>;

/** A server that only speaks the format, with its usual address and its own ways. */
export interface Server {
  readonly address: string;
  readonly quirks: Quirks;
  /** Fields of the format that it refuses, or would overlook: that is refused here so that it shows. */
  readonly forbids?: readonly string[];
  /** Fields of which it takes other values than the author. */
  readonly checks?: Readonly<Record<string, Check>>;
  /** Members of a message that it refuses, by role. */
  readonly forbidsMembers?: Readonly<Record<string, readonly string[]>>;
}

const isOne: Check = (value) => value === 1;
const isFormat =
  (...types: string[]): Check =>
  (value) =>
    isOneOf(...types)((value as Json | null)?.type);
const isListOfTexts: Check = (value) => Array.isArray(value) && value.every(isText);

export const COMPATIBLE: Readonly<Record<string, Server>> = {
  openrouter: {
    address: 'https://openrouter.ai/api/v1',
    quirks: {
      comments: [': OPENROUTER PROCESSING'],
      usagePlace: 'last frame',
      reasoningPlace: 'reasoning',
      errorShape: 'numeric code',
      errorsAreSuccesses: true,
      extras: { provider: 'Somebody', openrouter_metadata: {} },
    },
  },
  together: {
    address: 'https://api.together.ai/v1',
    quirks: { usagePlace: 'last frame', finishReasons: { stop: 'eos' } },
    forbids: ['max_completion_tokens', 'top_logprobs', 'logprobs'],
    checks: { stop: isListOfTexts },
  },
  groq: {
    address: 'https://api.groq.com/openai/v1',
    quirks: { usagePlace: 'x_groq', reasoningPlace: 'reasoning' },
    forbids: ['logprobs', 'top_logprobs', 'logit_bias'],
    checks: { n: isOne, service_tier: isOneOf('auto', 'on_demand', 'flex', 'performance') },
    forbidsMembers: { system: ['name'], user: ['name'], assistant: ['name', 'refusal'], tool: ['name'] },
  },
  mistral: {
    address: 'https://api.mistral.ai/v1',
    quirks: {
      usagePlace: 'last frame',
      reasoningPlace: 'parts',
      toolCallsAreWhole: true,
      finishReasons: { length: 'model_length' },
      errorShape: 'detail',
    },
    forbids: [
      ...['stream_options', 'max_completion_tokens', 'seed', 'user', 'store', 'logprobs', 'top_logprobs', 'logit_bias'],
      ...['safety_identifier', 'verbosity', 'modalities', 'audio', 'web_search_options', 'functions', 'function_call'],
    ],
    forbidsMembers: {
      system: ['name'],
      user: ['name'],
      assistant: ['name', 'refusal', 'annotations', 'audio', 'reasoning_content', 'function_call'],
      tool: [],
    },
  },
  deepseek: {
    address: 'https://api.deepseek.com/v1',
    quirks: { comments: [': keep-alive'], usagePlace: 'last frame' },
    forbids: ['max_completion_tokens', 'logit_bias'],
    checks: { n: isOne, response_format: isFormat('text', 'json_object') },
  },
  xai: {
    address: 'https://api.x.ai/v1',
    quirks: { errorShape: 'flat', errorsAreSuccesses: true },
    forbids: ['logit_bias'],
  },
  fireworks: {
    address: 'https://api.fireworks.ai/inference/v1',
    quirks: { errorShape: 'text', sendsNoEnd: true },
    forbids: ['max_completion_tokens'],
  },
  dashscope: {
    address: 'https://dashscope-intl.aliyuncs.com/compatible-mode/v1',
    quirks: {},
    forbids: ['max_completion_tokens'],
  },
  vllm: {
    address: 'http://vllm.example:8000/v1',
    quirks: { usagePlace: 'every frame', errorShape: 'numeric code', lineEnd: '\r\n' },
    forbids: ['max_completion_tokens'],
  },
  ollama: {
    address: 'http://ollama.example:11434/v1',
    quirks: { reasoningPlace: 'reasoning' },
    forbids: ['max_completion_tokens', 'logit_bias', 'tool_choice'],
    checks: { n: isOne },
  },
  'llama.cpp': {
    address: 'http://llama.example:8080/v1',
    quirks: { errorShape: 'numeric code', extras: { timings: { prompt_n: 9 } } },
    forbids: ['max_completion_tokens'],
    checks: { tool_choice: isOneOf('none', 'auto', 'required') },
  },
  'lm-studio': {
    address: 'http://studio.example:1234/v1',
    quirks: { errorShape: 'text', extras: { stats: {} } },
    forbids: ['max_completion_tokens', 'logprobs', 'top_logprobs'],
    checks: {
      n: isOne,
      response_format: isFormat('text', 'json_schema'),
      tool_choice: isOneOf('none', 'auto', 'required'),
    },
  },
};
