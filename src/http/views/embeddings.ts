import { Readable } from 'node:stream';
import { setImmediate } from 'node:timers/promises';
import { z } from 'zod';
import type { MadeEmbeddings } from '../../calls/index.ts';
import { creditsToNumber } from '../../credits.ts';
import { VECTORS_PIECE_BYTES } from '../../limits.ts';
import type { EmbeddingRequest } from '../../schemas/index.ts';

export const embeddingsSchema = z
  .strictObject({
    object: z.literal('list'),
    data: z.array(
      z.strictObject({
        object: z.literal('embedding'),
        index: z.int().describe('Of the input.'),
        embedding: z
          .union([z.array(z.number()), z.string()])
          .describe('Numbers, or where `encoding_format` is base64 their bytes as float32, small end first.'),
      }),
    ),
    model: z.string(),
    usage: z.strictObject({
      prompt_tokens: z.int(),
      total_tokens: z.int(),
      estimated: z.literal(true).optional().describe('Counted here, because the upstream told nothing.'),
      credits: z.number().describe('What the call cost.'),
    }),
  })
  .meta({ id: 'Embeddings' });

/**
 * The answer as JSON: a text, or a long one piece by piece, each written in a turn of the event loop. As an object it would
 * hold every number of every vector three times, and block all other requests while it is printed.
 */
export function embeddingsBody(request: EmbeddingRequest, made: MadeEmbeddings): string | Readable {
  const pieces = textPieces(request, made);
  const first = pieces.next();
  const second = pieces.next();
  if (second.done === true) return first.value ?? '';
  return Readable.from(inTurns([first.value ?? '', second.value], pieces), { objectMode: false });
}

async function* inTurns(begun: readonly string[], pieces: Iterable<string>): AsyncGenerator<string> {
  yield* begun;
  for (const piece of pieces) {
    await setImmediate();
    yield piece;
  }
}

function* textPieces({ model, encoding }: EmbeddingRequest, made: MadeEmbeddings): Generator<string, undefined> {
  let text = '{"object":"list","data":[';
  for (const [index, vector] of made.vectors.entries()) {
    const embedding = encoding === 'base64' ? `"${vector.toString('base64')}"` : numbersOf(vector);
    text += `${index === 0 ? '' : ','}{"object":"embedding","index":${index},"embedding":${embedding}}`;
    if (text.length < VECTORS_PIECE_BYTES) continue;
    yield text;
    text = '';
  }
  yield `${text}],"model":${JSON.stringify(model)},"usage":${JSON.stringify(usageView(made))}}`;
}

const FLOAT_BYTES = 4;
/** So many digits tell any float32 from its neighbours. */
const FLOAT_DIGITS = 9;

function numbersOf(vector: Buffer): string {
  let text = '[';
  for (let at = 0; at < vector.length; at += FLOAT_BYTES) {
    const value = vector.readFloatLE(at);
    // A zero would lose its sign.
    const digits = value === 0 ? (Object.is(value, 0) ? '0' : '-0.0') : value.toPrecision(FLOAT_DIGITS);
    text += at === 0 ? digits : `,${digits}`;
  }
  return `${text}]`;
}

function usageView({ tokens, charged }: MadeEmbeddings): z.output<typeof embeddingsSchema>['usage'] {
  const prompt = tokens.inputTokens + tokens.cachedTokens;
  return {
    prompt_tokens: prompt,
    total_tokens: prompt,
    ...(tokens.estimated ? { estimated: true as const } : {}),
    credits: creditsToNumber(charged),
  };
}
