// The configuration of the campaign: models behind an upstream that answers well, behind several that do not, and the sandbox.

export const LIARS = 6;

interface Ports {
  readonly honest: number;
  readonly liar: number;
}

const PRICES = {
  chat: { mode: 'per_token', credits: { input_per_k: 1, output_per_k: 4 } },
  native: { mode: 'per_token', credits: { input_per_k: 1, output_per_k: 4 } },
  embedding: { mode: 'per_token', credits: { input_per_k: 1, output_per_k: 0 } },
  image: { mode: 'per_image', credits: { base: 10 } },
  video: { mode: 'per_second', credits: { per_second: 2 } },
  music: { mode: 'per_request', credits: { base: 5 } },
  speech: { mode: 'per_k_char', credits: { base: 15 } },
  transcribe: { mode: 'per_audio_second', credits: { per_second: 1 } },
} as const;
type Kind = keyof typeof PRICES;

const ENDPOINTS: Readonly<Record<Kind, { readonly modality: string; readonly endpoints: readonly string[] }>> = {
  chat: { modality: 'chat', endpoints: ['chat'] },
  native: { modality: 'chat', endpoints: ['native'] },
  embedding: { modality: 'chat', endpoints: ['embeddings'] },
  image: { modality: 'image', endpoints: ['images', 'image_edits'] },
  video: { modality: 'video', endpoints: ['videos'] },
  music: { modality: 'audio', endpoints: ['audio_music'] },
  speech: { modality: 'audio', endpoints: ['audio_speech'] },
  transcribe: { modality: 'audio', endpoints: ['transcriptions'] },
};

/** Fields that a model does not accept are refused before anything is done with them. */
const ACCEPTS: Readonly<Partial<Record<Kind, object>>> = {
  image: {
    resolutions: ['1k', '2k', '4k'],
    aspect_ratios: ['1:1', '3:2', '2:3', '16:9', '9:16'],
    sizes: ['256x256', '1024x1024', '1536x1024', '1024x1536', 'auto'],
    slots: ['reference_images', 'mask'],
  },
  video: {
    resolutions: ['480p', '720p'],
    aspect_ratios: ['16:9', '9:16', '1:1'],
    sizes: ['854x480', '1280x720'],
    slots: ['first_frame', 'last_frame', 'input_reference', 'reference_images', 'ref_video', 'generate_audio'],
  },
};

/** At which of the emulated upstreams of a name, and as what. */
const WIRED: Readonly<Record<Kind, readonly [vendor: 'openai' | 'native' | 'queue', model: string]>> = {
  chat: ['openai', 'm'],
  native: ['native', 'm'],
  embedding: ['openai', 'm'],
  image: ['openai', 'gpt-image-1'],
  video: ['queue', 'fal-ai/video'],
  music: ['queue', 'fal-ai/audio'],
  speech: ['openai', 'tts-1'],
  transcribe: ['openai', 'whisper-1'],
};
/** Its clips, voices and recogniser would be most of what a campaign costs. */
const SANDBOXED: readonly Kind[] = ['chat', 'native', 'embedding', 'image'];
const ALL = Object.keys(PRICES) as Kind[];

export function configurationOf(ports: Ports): unknown {
  const liars = Array.from({ length: LIARS }, (_, place) => `liar-${place}`);
  return {
    upstreams: [
      ...['honest', ...liars].flatMap((id) => wired(id, id === 'honest' ? ports.honest : ports.liar)),
      { id: 'sandbox', vendor: 'sandbox' },
    ],
    models: [
      ...['honest', ...liars].flatMap((upstream) =>
        ALL.map((kind) => modelOf(`${upstream}/${kind}`, kind, `${upstream}-${WIRED[kind][0]}`)),
      ),
      ...SANDBOXED.map((kind) => modelOf(`sandbox/${kind}`, kind, 'sandbox')),
    ],
  };
}

export function upstreamIds(): string[] {
  const names = ['honest', ...Array.from({ length: LIARS }, (_, place) => `liar-${place}`)];
  return [...names.flatMap((name) => ['openai', 'native', 'queue'].map((vendor) => `${name}-${vendor}`)), 'sandbox'];
}

function wired(name: string, port: number): unknown[] {
  const origin = `http://127.0.0.1:${port}`;
  const shared = { api_key: 'key-of-the-fuzzer', timeout_seconds: 3 };
  return [
    { id: `${name}-openai`, vendor: 'openai', base_url: `${origin}/v1`, ...shared },
    { id: `${name}-native`, vendor: 'gemini', base_url: origin, ...shared },
    { id: `${name}-queue`, vendor: 'fal', base_url: origin, ...shared },
  ];
}

function modelOf(id: string, kind: Kind, upstream: string): unknown {
  const model = upstream === 'sandbox' ? kind : WIRED[kind][1];
  const shape = { ...ENDPOINTS[kind], pricing: PRICES[kind], accepts: ACCEPTS[kind] };
  return { id, owned_by: 'fuzz', ...shape, routes: [{ upstream, model }] };
}

const KIND_OF_PATH: readonly (readonly [RegExp, Kind])[] = [
  [/\/chat\//, 'chat'],
  [/^\/v1beta\//, 'native'],
  [/\/images\//, 'image'],
  [/\/videos/, 'video'],
  [/\/music/, 'music'],
  [/\/speech/, 'speech'],
  [/\/transcriptions/, 'transcribe'],
  [/\/embeddings/, 'embedding'],
];

const HONEST_WEIGHT = 20;

/** Those that a route takes, or should not, each as often as it should be asked for. */
export function modelsFor(path: string): readonly string[] {
  const kind = KIND_OF_PATH.find(([pattern]) => pattern.test(path))?.[1];
  if (kind === undefined) return ['honest/chat', 'honest/image', 'honest/video', 'nowhere/nothing'];
  const liars = Array.from({ length: LIARS }, (_, place) => `liar-${place}/${kind}`);
  const others = [`sandbox/${kind}`, 'nowhere/nothing', kind === 'image' ? 'honest/chat' : 'honest/image'];
  return [...Array<string>(HONEST_WEIGHT).fill(`honest/${kind}`), ...liars, ...others];
}
