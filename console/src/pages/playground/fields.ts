import type { PlaygroundEndpoint } from '../../api/endpoints.ts';
import type { CatalogueModel } from '../../api/schema.ts';

/** One field of the form, under the name that it has in the body. */
export type Field =
  | { readonly kind: 'text'; readonly name: TextName; readonly isLong?: boolean; readonly isRequired?: boolean }
  | { readonly kind: 'choice'; readonly name: ChoiceName; readonly options: readonly string[] }
  | {
      readonly kind: 'number';
      readonly name: NumberName;
      readonly min?: number;
      readonly max?: number | undefined;
      readonly decimals?: number;
    }
  | { readonly kind: 'flag'; readonly name: FlagName }
  | {
      readonly kind: 'media';
      readonly name: MediaName;
      readonly media: 'image' | 'video' | 'audio';
      readonly isList: boolean;
      readonly isRequired?: boolean;
    };

type TextName = 'prompt' | 'input' | 'lyrics' | 'voice' | 'voice_description' | 'language';
type ChoiceName = 'size' | 'resolution' | 'aspect_ratio' | 'quality' | 'output_format' | 'response_format';
type NumberName = 'n' | 'seconds' | 'duration_seconds' | 'seed' | 'max_tokens' | 'temperature';
type FlagName = 'generate_audio' | 'instrumental';
type MediaName =
  | 'reference_images'
  | 'mask'
  | 'first_frame'
  | 'last_frame'
  | 'input_reference'
  | 'reference_image_urls'
  | 'reference_videos'
  | 'reference_audios'
  | 'ref_video_url'
  | 'reference_audio';
export type FieldName = Field['name'];

type Accepts = CatalogueModel['accepts'];

const SEED: Field = { kind: 'number', name: 'seed', min: 0 };
const PROMPT: Field = { kind: 'text', name: 'prompt', isLong: true, isRequired: true };

/** What can be asked of a model on an endpoint, from what it accepts: nothing else is offered. */
export function fieldsOf(endpoint: PlaygroundEndpoint, model: CatalogueModel): readonly Field[] {
  const { accepts } = model;
  switch (endpoint) {
    case 'chat':
      return [
        { kind: 'number', name: 'max_tokens', min: 1, max: model.max_output_tokens ?? undefined },
        { kind: 'number', name: 'temperature', min: 0, max: 2, decimals: 2 },
      ];
    case 'images':
    case 'image_edits':
      return imageFields(endpoint, accepts);
    case 'videos':
      return videoFields(accepts);
    case 'audio_speech':
      return speechFields(accepts);
    case 'audio_music':
      return [
        PROMPT,
        { kind: 'text', name: 'lyrics', isLong: true },
        { kind: 'number', name: 'duration_seconds', min: 1, max: accepts.seconds_max ?? undefined, decimals: 1 },
        { kind: 'flag', name: 'instrumental' },
        ...choice('response_format', accepts.formats),
      ];
    case 'transcriptions':
      return [
        { kind: 'text', name: 'language' },
        { kind: 'text', name: 'prompt', isLong: true },
      ];
  }
}

function imageFields(endpoint: 'images' | 'image_edits', accepts: Accepts): readonly Field[] {
  const isEdit = endpoint === 'image_edits';
  const slots = new Set<string>(accepts.slots);
  return [
    PROMPT,
    ...(slots.has('reference_images')
      ? [{ kind: 'media', name: 'reference_images', media: 'image', isList: true, isRequired: isEdit } as const]
      : []),
    ...(isEdit && slots.has('mask') ? [{ kind: 'media', name: 'mask', media: 'image', isList: false } as const] : []),
    ...choice('aspect_ratio', accepts.aspect_ratios),
    ...choice('resolution', accepts.resolutions),
    ...choice('size', accepts.sizes),
    ...choice('quality', accepts.qualities),
    ...(accepts.n_max === 1 ? [] : [{ kind: 'number', name: 'n', min: 1, max: accepts.n_max ?? 10 } as const]),
    ...choice('output_format', accepts.formats),
    SEED,
  ];
}

const VIDEO_SLOTS: readonly (readonly [slot: Accepts['slots'][number], field: Field])[] = [
  ['first_frame', { kind: 'media', name: 'first_frame', media: 'image', isList: false }],
  ['last_frame', { kind: 'media', name: 'last_frame', media: 'image', isList: false }],
  ['input_reference', { kind: 'media', name: 'input_reference', media: 'image', isList: false }],
  ['reference_images', { kind: 'media', name: 'reference_image_urls', media: 'image', isList: true }],
  ['reference_videos', { kind: 'media', name: 'reference_videos', media: 'video', isList: true }],
  ['reference_audios', { kind: 'media', name: 'reference_audios', media: 'audio', isList: true }],
  ['ref_video', { kind: 'media', name: 'ref_video_url', media: 'video', isList: false }],
  ['generate_audio', { kind: 'flag', name: 'generate_audio' }],
];

function videoFields(accepts: Accepts): readonly Field[] {
  return [
    { kind: 'text', name: 'prompt', isLong: true },
    { kind: 'number', name: 'seconds', min: 1, max: accepts.seconds_max ?? undefined, decimals: 1 },
    ...choice('resolution', accepts.resolutions),
    ...choice('aspect_ratio', accepts.aspect_ratios),
    ...choice('size', accepts.sizes),
    ...VIDEO_SLOTS.flatMap(([slot, field]) => (accepts.slots.includes(slot) ? [field] : [])),
    SEED,
  ];
}

function speechFields(accepts: Accepts): readonly Field[] {
  if (accepts.voice_design) {
    return [
      { kind: 'text', name: 'voice_description', isLong: true, isRequired: true },
      { kind: 'text', name: 'input', isLong: true },
      ...choice('response_format', accepts.formats),
    ];
  }
  const needsSample = accepts.voice_sample === 'required';
  return [
    { kind: 'text', name: 'input', isLong: true, isRequired: true },
    needsSample
      ? { kind: 'media', name: 'reference_audio', media: 'audio', isList: true, isRequired: true }
      : { kind: 'text', name: 'voice' },
    ...choice('response_format', accepts.formats),
  ];
}

function choice(name: ChoiceName, options: readonly string[] | null): readonly Field[] {
  return options === null || options.length === 0 ? [] : [{ kind: 'choice', name, options }];
}
