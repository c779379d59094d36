import { z } from 'zod';
import { optional, parseWith } from '../parse.ts';
import { estimatePromptTokens } from '../text/index.ts';

/** What of a body in the native format decides its price. */
export interface NativeTokens {
  readonly inputTokens: number;
  /** Undefined is the model's own most. */
  readonly maxOutputTokens: number | undefined;
  /** How many answers are wanted. */
  readonly answers: number;
}

const TOKENS_MAX = 10_000_000;

// What is wrong in the native format is for its upstream to say: here it only leaves the estimate at its highest.
const count = optional(z.int().min(1).max(TOKENS_MAX)).catch(undefined);
const fields = z.looseObject({
  contents: z.unknown().optional(),
  systemInstruction: z.unknown().optional(),
  tools: z.unknown().optional(),
  generationConfig: optional(z.looseObject({ maxOutputTokens: count, candidateCount: count })).catch(undefined),
});

export function nativeTokensOf(json: unknown): NativeTokens {
  const { contents, systemInstruction, tools, generationConfig } = parseWith(fields, json);
  return {
    inputTokens: estimatePromptTokens([contents, systemInstruction, tools]),
    maxOutputTokens: generationConfig?.maxOutputTokens,
    answers: generationConfig?.candidateCount ?? 1,
  };
}
