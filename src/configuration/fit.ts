import type { PricingMode } from '../pricing/index.ts';
import type { ModelOutline } from './outline.ts';
import type { Finding, Path } from './problems.ts';
import { ENDPOINTS, type Endpoint, type Format, type Modality, SLOTS, type Slot } from './vocabulary.ts';

/** Every word of a model that belongs to models of another kind. Unknown words are not its business. */
export function fitFindings(model: ModelOutline, path: Path): readonly Finding[] {
  const { modality, endpoints, accepts } = model;
  if (modality === undefined) return [];
  const misfits = (kind: keyof Fit, items: readonly (string | undefined)[], itemsPath: Path) =>
    items.flatMap((item, index) => misfit(modality, kind, item, [...itemsPath, index]));
  return [
    ...misfits('endpoints', endpoints, [...path, 'endpoints']),
    ...modeMisfits(modality, model, [...path, 'pricing', 'mode']),
    ...misfits('slots', accepts?.slots ?? [], [...path, 'accepts', 'slots']),
    ...misfits('formats', accepts?.formats ?? [], [...path, 'accepts', 'formats']),
    ...voiceMisfits(model, [...path, 'accepts']),
  ];
}

/** What makes sense for a model of each modality. */
interface Fit {
  readonly endpoints: readonly Endpoint[];
  readonly slots: readonly Slot[];
  readonly formats: readonly Format[];
}

const FIT_OF_MODALITY: Readonly<Record<Modality, Fit>> = {
  image: {
    endpoints: ['images', 'image_edits'],
    slots: ['reference_images', 'mask'],
    formats: ['png', 'jpeg', 'webp'],
  },
  video: {
    endpoints: ['videos'],
    slots: SLOTS.filter((slot) => slot !== 'mask'),
    formats: [],
  },
  chat: {
    endpoints: ['chat', 'native', 'embeddings'],
    slots: [],
    formats: [],
  },
  audio: {
    endpoints: ['audio_speech', 'transcriptions', 'audio_music'],
    slots: [],
    formats: ['mp3', 'wav', 'pcm', 'opus', 'flac', 'aac', 'ogg'],
  },
};

/** By what each endpoint counts. A price in anything else would come to nothing. */
const MODES_OF_ENDPOINT: Readonly<Record<Endpoint, readonly PricingMode[]>> = {
  images: ['per_image', 'per_request'],
  image_edits: ['per_image', 'per_request'],
  videos: ['per_second', 'per_request'],
  chat: ['per_token', 'per_request'],
  native: ['per_token', 'per_request'],
  embeddings: ['per_token', 'per_request'],
  audio_speech: ['per_second', 'per_audio_second', 'per_k_char', 'per_request'],
  transcriptions: ['per_second', 'per_audio_second', 'per_request'],
  audio_music: ['per_second', 'per_audio_second', 'per_k_char', 'per_request'],
};

function modeMisfits(modality: Modality, { endpoints, pricing }: ModelOutline, path: Path): readonly Finding[] {
  const { mode } = pricing;
  const takes = (endpoint: Endpoint): readonly (string | undefined)[] => MODES_OF_ENDPOINT[endpoint];
  const own = FIT_OF_MODALITY[modality].endpoints.filter((endpoint) => endpoints.includes(endpoint));
  const unfit = own.find((endpoint) => !takes(endpoint).includes(mode));
  if (unfit === undefined || !ENDPOINTS.some((endpoint) => takes(endpoint).includes(mode))) return [];
  const problem = `${mode} does not fit ${unfit}, which is charged ${takes(unfit).join(' or ')}`;
  return [{ path, problem }];
}

function misfit(modality: Modality, kind: keyof Fit, item: string | undefined, path: Path): readonly Finding[] {
  const own: readonly (string | undefined)[] = FIT_OF_MODALITY[modality][kind];
  const others: readonly (string | undefined)[] = Object.values(FIT_OF_MODALITY).flatMap((fit) => fit[kind]);
  if (own.includes(item) || !others.includes(item)) return [];
  return [{ path, problem: `${item} does not fit a model of modality ${modality}` }];
}

function voiceMisfits({ modality, accepts }: ModelOutline, path: Path): readonly Finding[] {
  if (modality === 'audio' || accepts === undefined) return [];
  const problem = `voices do not fit a model of modality ${modality}`;
  const sample = accepts.voice_sample === undefined ? [] : [{ path: [...path, 'voice_sample'], problem }];
  return accepts.voice_design ? [...sample, { path: [...path, 'voice_design'], problem }] : sample;
}
