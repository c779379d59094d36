// What fields usually hold, by their names, so that many requests get past the first check.
import type { Random } from '../../packages/verify/src/random.ts';
import { type Sample, samplesOf, spoiledSample } from './media-corpus.ts';
import type { KnownField } from './schema-values.ts';
import { Members, type Written } from './written.ts';

/** Where media may be fetched from. */
export interface Surroundings {
  readonly filesUrl: string;
  readonly samples: readonly Sample[];
  /** The ids of models that a route takes. */
  models(path: string): readonly string[];
}

const ROLES = ['user', 'system', 'assistant', 'developer', 'tool'];
const TEXTS = ['Hello', 'A red square on a white table', 'Count to three, slowly.', 'é😀 mixed text', 'x'.repeat(500)];

export function knownFields(path: string, surroundings: Surroundings): KnownField {
  const models = surroundings.models(path);
  const media = (random: Random) => mediaReference(surroundings, random);
  const fields: Readonly<Record<string, (random: Random) => Written>> = {
    model: (random) => random.pick(models),
    messages: (random) => messages(surroundings, random),
    prompt: (random) => random.pick(TEXTS),
    input: (random) => random.pick(TEXTS),
    url: (random) => fileUrl(surroundings, random, path.includes('/transcriptions') ? 'audio' : 'image'),
    image: media,
    mask: media,
    images: (random) => [media(random)],
    reference_images: (random) => [media(random)],
    input_reference: media,
    b64: (random) => spoiledSample(surroundings.samples, random).bytes.toString('base64'),
    voice: (random) => random.pick(['alloy', 'amy', 'default']),
    seconds: (random) => random.pick([1, 2, 5]),
    duration: (random) => random.pick([1, 2, 5]),
    n: (random) => random.whole(1, 2),
    name: (random) => `fuzz ${random.whole(1, 1_000)}`,
    email: (random) => `fuzz-${random.whole(1, 100_000)}@example.com`,
    password: () => 'correct horse battery',
    redirect_uris: (random) => [random.pick(['https://app.example/x', 'http://127.0.0.1/x', 'app:/x'])],
    scopes: (random) => [random.pick(['user:jobs', 'user:credits', 'user:inference:chat'])],
    groups: () => ['default'],
    credits: (random) => random.whole(1, 100),
    max_tokens: (random) => random.whole(1, 50),
    max_completion_tokens: (random) => random.whole(1, 50),
    expires_at: (random) => 1_900_000_000 + random.whole(0, 1_000_000),
    operator_role: (random) => random.pick(['operator', 'auditor']),
    reference: (random) => `ref-${random.whole(1, 1_000_000)}`,
  };
  return (name, random) => (Object.hasOwn(fields, name) ? fields[name]?.(random) : undefined);
}

/** By seed, made by the upstream from the same samples. */
function fileUrl({ filesUrl, samples }: Surroundings, random: Random, kind: 'image' | 'audio' = 'image'): string {
  return `${filesUrl}/${random.whole(0, 1_000_000)}/${random.pick(samplesOf(kind, samples, random)).name}`;
}

function mediaReference(surroundings: Surroundings, random: Random): Written {
  const { mimeType, bytes } = spoiledSample(samplesOf('image', surroundings.samples, random), random, 0.5);
  switch (random.weighted({ url: 2, data: 3, b64: 2, object: 1 })) {
    case 'url':
      return fileUrl(surroundings, random);
    case 'data':
      return `data:${mimeType};base64,${bytes.toString('base64')}`;
    case 'b64':
      return new Members([
        ['b64', bytes.toString('base64')],
        ['mime_type', mimeType],
      ]);
    case 'object':
      return new Members([['url', fileUrl(surroundings, random)]]);
  }
}

function messages(surroundings: Surroundings, random: Random): Written {
  return Array.from({ length: random.whole(1, 3) }, (_, place) => {
    const role = place === 0 ? 'user' : random.pick(ROLES);
    if (random.chance(0.8)) return message(role, random.pick(TEXTS));
    const url = mediaReference(surroundings, random);
    const part = new Members([
      ['type', random.pick(['image_url', 'text', 'input_audio', 'file', 'unknown'])],
      ['image_url', new Members([['url', url]])],
      ['text', random.pick(TEXTS)],
    ]);
    return message(role, [part]);
  });
}

function message(role: string, content: Written): Members {
  return new Members([
    ['role', role],
    ['content', content],
  ]);
}
