import { readFile } from 'node:fs/promises';
import tokenizer from 'llama-tokenizer-js';
import { env, InferenceSession, Tensor } from 'onnxruntime-web/wasm';
import { HEARING_RATE } from './pauses.ts';

const LAYERS = 6;
const HEADS = 8;
const HEAD_SIZE = 36;
const BEGIN = 1;
const END = 2;
/** Speech is not faster; without the bound a recogniser that loops would never end. */
const TOKENS_PER_SECOND_MAX = 8;
const SECONDS_MIN = 0.5;

/** Writes down a short stretch of English, at HEARING_RATE. */
export type Recognise = (samples: Float32Array) => Promise<string>;

export async function loadMoonshine(): Promise<Recognise> {
  env.wasm.numThreads = 1;
  // The optimised model says the same, and takes 150 MB more to hold and longer to load.
  const options = { executionProviders: ['wasm'], graphOptimizationLevel: 'disabled' } as const;
  const load = async (name: string) => InferenceSession.create(await readFile(weights(name)), options);
  const [encoder, decoder] = [await load('encoder_model.onnx'), await load('decoder_model_merged.onnx')];
  return async (input) => {
    const samples = new Float32Array(Math.max(input.length, SECONDS_MIN * HEARING_RATE));
    samples.set(input);
    const { last_hidden_state: sound } = await encoder.run({
      input_values: new Tensor('float32', samples, [1, samples.length]),
    });
    if (sound === undefined) throw new Error('the encoder says nothing');
    return spelled(decoder, sound, Math.ceil((samples.length / HEARING_RATE) * TOKENS_PER_SECOND_MAX));
  };
}

/** The package exports its program alone; the weights lie beside it. */
function weights(name: string): URL {
  return new URL(`model/tiny/quantized/${name}`, import.meta.resolve('@moonshine-ai/moonshine-js'));
}

/** Word by word, or part of it: each time the likeliest that follows what was said and written so far. */
async function spelled(decoder: InferenceSession, sound: Tensor, tokensMax: number): Promise<string> {
  const tokens = [BEGIN];
  let memory = emptyMemory();
  while (tokens.length <= tokensMax) {
    const answer = await decoder.run({
      input_ids: new Tensor('int64', [BigInt(tokens.at(-1) ?? BEGIN)], [1, 1]),
      encoder_hidden_states: sound,
      use_cache_branch: new Tensor('bool', [tokens.length > 1]),
      ...memory,
    });
    const token = likeliest(answer.logits);
    if (token === END) break;
    memory = remembered(memory, answer, tokens.length === 1);
    tokens.push(token);
  }
  return tokenizer.decode(tokens).trim();
}

type Memory = Readonly<Record<string, Tensor>>;

function emptyMemory(): Memory {
  const names = Array.from({ length: LAYERS }, (_, layer) =>
    ['decoder.key', 'decoder.value', 'encoder.key', 'encoder.value'].map((part) => `past_key_values.${layer}.${part}`),
  );
  const empty = new Tensor('float32', new Float32Array(0), [0, HEADS, 1, HEAD_SIZE]);
  return Object.fromEntries(names.flat().map((name) => [name, empty]));
}

/** What was heard is worked out once, with the first word; what was written grows. */
function remembered(memory: Memory, answer: Readonly<Record<string, Tensor | undefined>>, isFirst: boolean): Memory {
  const next = Object.entries(memory).map(([name, before]): [string, Tensor] => {
    const now = answer[name.replace('past_key_values', 'present')];
    return [name, now !== undefined && (isFirst || name.includes('.decoder.')) ? now : before];
  });
  return Object.fromEntries(next);
}

function likeliest(logits: Tensor | undefined): number {
  const scores = logits?.data;
  if (!(scores instanceof Float32Array)) throw new Error('the decoder says nothing');
  let best = 0;
  for (let at = 1; at < scores.length; at++) if ((scores[at] ?? 0) > (scores[best] ?? 0)) best = at;
  return best;
}
