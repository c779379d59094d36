import { unixSeconds } from '../../clock.ts';
import { creditsToNumber } from '../../credits.ts';
import { newId } from '../../ids.ts';
import type { JsonObject, JsonValue } from '../../json.ts';
import { objectAt } from '../../json-read.ts';
import type { Settled } from '../format.ts';
import { given, type ResponsesRequest } from './request.ts';
import type { Tools } from './tools.ts';

type Status = 'in_progress' | 'completed' | 'incomplete' | 'failed';

/** What of a response changes while it is made. */
export interface Outcome {
  readonly status: Status;
  readonly output: readonly JsonObject[];
  readonly usage: JsonObject | null;
  readonly error?: { readonly code: string; readonly message: string };
  readonly incompleteReason?: string | undefined;
  readonly serviceTier?: JsonValue | undefined;
}

/** Writes the response object of one call. A stream sends it three times, so what is the same in all is written once. */
export class ResponseObject {
  readonly #same: JsonObject;
  #written: string | undefined;

  constructor(request: ResponsesRequest, tools: Tools, now: Date) {
    this.#same = {
      id: newId('resp'),
      object: 'response',
      created_at: unixSeconds(now),
      model: request.model,
      ...echoOf(request, tools),
    };
  }

  whole(outcome: Outcome): JsonObject {
    return { ...this.#same, ...changing(outcome) };
  }

  /** The same as JSON. */
  text(outcome: Outcome): string {
    this.#written ??= JSON.stringify(this.#same).slice(0, -1);
    return `${this.#written},${JSON.stringify(changing(outcome)).slice(1)}`;
  }
}

function changing({ status, output, usage, error, incompleteReason, serviceTier }: Outcome): JsonObject {
  return {
    status,
    error: error ?? null,
    incomplete_details: incompleteReason === undefined ? null : { reason: incompleteReason },
    output,
    usage,
    ...(typeof serviceTier === 'string' && { service_tier: serviceTier }),
  };
}

/** What the caller sent, with the format's own defaults: client libraries demand these fields. */
function echoOf({ body, maxOutputTokens, store }: ResponsesRequest, tools: Tools): JsonObject {
  const text = objectAt(body, 'text');
  const reasoning = objectAt(body, 'reasoning');
  return {
    background: false,
    instructions: given(body, 'instructions') ?? null,
    max_output_tokens: maxOutputTokens ?? null,
    metadata: objectAt(body, 'metadata') ?? {},
    parallel_tool_calls: given(body, 'parallel_tool_calls') ?? true,
    previous_response_id: null,
    reasoning: { effort: given(reasoning ?? {}, 'effort') ?? null, summary: given(reasoning ?? {}, 'summary') ?? null },
    store,
    temperature: given(body, 'temperature') ?? 1,
    text: { ...text, format: objectAt(text, 'format') ?? { type: 'text' } },
    tool_choice: given(body, 'tool_choice') ?? 'auto',
    tools: tools.sent,
    top_p: given(body, 'top_p') ?? 1,
    truncation: 'disabled',
    ...Object.fromEntries(
      ['user', 'safety_identifier', 'prompt_cache_key', 'top_logprobs'].flatMap((name) => {
        const value = given(body, name);
        return value === undefined ? [] : [[name, value]];
      }),
    ),
  };
}

/** With what was charged. */
export function responsesUsage({ tokens, charged }: Settled): JsonObject {
  const input = tokens.inputTokens + tokens.cachedTokens + (tokens.cacheWriteTokens ?? 0);
  const output = tokens.outputTokens + tokens.reasoningTokens;
  return {
    input_tokens: input,
    input_tokens_details: { cached_tokens: tokens.cachedTokens, cache_write_tokens: tokens.cacheWriteTokens ?? 0 },
    output_tokens: output,
    output_tokens_details: { reasoning_tokens: tokens.reasoningTokens },
    total_tokens: input + output,
    ...(tokens.estimated ? { estimated: true } : {}),
    credits: creditsToNumber(charged),
  };
}

/** Why an answer is not whole, in the format's words; undefined for one that is. */
export function incompleteReason(finish: JsonValue | undefined): string | undefined {
  if (finish === 'length') return 'max_output_tokens';
  return finish === 'content_filter' ? 'content_filter' : undefined;
}
