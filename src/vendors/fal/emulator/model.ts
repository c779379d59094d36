import type { EndpointTypeMap } from '@fal-ai/client/endpoints';
import type { Check } from './fields.ts';

export interface Model {
  readonly fields: ReadonlyMap<string, Check<unknown>>;
  readonly required: readonly string[];
  /** Where its result has its files. */
  readonly output: 'images' | 'video' | 'audio' | 'audio_file' | 'audio_url' | 'transcript';
}

/** Exactly the fields of the vendor's own description, each of its type. */
type Rules<Input> = { readonly [Field in keyof Input]-?: Check<NonNullable<Input[Field]>> };
type Inputs = { readonly [Id in keyof EndpointTypeMap]: EndpointTypeMap[Id]['input'] } & NewerInputs;

/** Models that are newer than the vendor's list of types. */
interface NewerInputs {
  readonly 'bytedance/seedance-2.0/reference-to-video': {
    prompt: string;
    image_urls?: string[];
    video_urls?: string[];
    audio_urls?: string[];
    resolution?: string;
    duration?: string;
    aspect_ratio?: string;
    generate_audio?: boolean;
    seed?: number;
  };
  readonly 'fal-ai/minimax-music/v2.6': {
    prompt: string;
    lyrics?: string;
    is_instrumental?: boolean;
    audio_setting?: object;
  };
}

/** What is held against the vendor's types: a field too many, too few or of another type does not compile. */
export function model<Id extends keyof Inputs>(
  id: Id,
  output: Model['output'],
  rules: Rules<Inputs[Id]>,
  required: readonly (keyof Inputs[Id] & string)[] = [],
): [id: string, model: Model] {
  return [id, { fields: new Map(Object.entries<Check<unknown>>(rules)), required, output }];
}
