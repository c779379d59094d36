import type { PricingMode } from '../pricing/index.ts';
import type { ModelOutline } from './outline.ts';
import type { Finding, Path } from './problems.ts';
import { type Endpoint, type Format, type Modality, SLOTS, type Slot } from './vocabulary.ts';

/** Every word of a model that belongs to models of another modality. Unknown words are not its business. */
export function fitFindings(model: ModelOutline, path: Path): readonly Finding[] {
  const { modality, endpoints, pricing, accepts } = model;
  if (modality === undefined) return [];
  const misfits = (kind: keyof Fit, items: readonly (string | undefined)[], itemsPath: Path) =>
    items.flatMap((item, index) => misfit(modality, kind, item, [...itemsPath, index]));
  return [
    ...misfits('endpoints', endpoints, [...path, 'endpoints']),
    ...misfit(modality, 'modes', pricing.mode, [...path, 'pricing', 'mode']),
    ...misfits('slots', accepts?.slots ?? [], [...path, 'accepts', 'slots']),
    ...misfits('formats', accepts?.formats ?? [], [...path, 'accepts', 'formats']),
    ...voiceMisfits(model, [...path, 'accepts']),
  ];
}

/** What makes sense for a model of each modality. */
interface Fit {
  readonly endpoints: readonly Endpoint[];
  readonly modes: readonly PricingMode[];
  readonly slots: readonly Slot[];
  readonly formats: readonly Format[];
}

const FIT_OF_MODALITY: Readonly<Record<Modality, Fit>> = {
  image: {
    endpoints: ['images', 'image_edits'],
    modes: ['per_image', 'per_request', 'per_token'],
    slots: ['reference_images', 'mask'],
    formats: ['png', 'jpeg', 'webp'],
  },
  video: {
    endpoints: ['videos'],
    modes: ['per_second', 'per_request', 'per_token'],
    slots: SLOTS.filter((slot) => slot !== 'mask'),
    formats: [],
  },
  chat: {
    endpoints: ['chat', 'native'],
    modes: ['per_token', 'per_request'],
    slots: [],
    formats: [],
  },
  audio: {
    endpoints: ['audio_speech', 'transcriptions', 'audio_music'],
    modes: ['per_second', 'per_audio_second', 'per_k_char', 'per_request', 'per_token'],
    slots: [],
    formats: ['mp3', 'wav', 'pcm', 'opus', 'flac', 'aac', 'ogg'],
  },
};

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
