import { z } from 'zod';
import type { Content, MadeClip, Sound, SpeechClips, VoicePreviews } from '../../calls/index.ts';
import { creditsToNumber, type MicroCredits } from '../../credits.ts';
import type { SoundRequest } from '../../schemas/index.ts';

/** Speech inside JSON, in wire shape. */

const delivered = {
  format: z.string(),
  mime_type: z.string(),
  b64_json: z.string().optional(),
  url: z.string().optional().describe('Works for 15 minutes, without a credential.'),
  seconds: z.number(),
};

const usage = z.strictObject({
  characters: z.int(),
  audio_seconds: z.number(),
  credits: z.number().describe('What the call cost.'),
});

const speechSchema = z
  .strictObject({
    object: z.literal('audio.speech'),
    created: z.int().describe('Unix seconds.'),
    model: z.string(),
    ...delivered,
    data: z.array(z.strictObject(delivered)).optional().describe('Every clip, where more than one was asked for.'),
    usage,
  })
  .meta({ id: 'Speech' });

const previewsSchema = z
  .strictObject({
    object: z.literal('audio.voice_previews'),
    created: z.int().describe('Unix seconds.'),
    model: z.string(),
    previews: z.array(
      z.strictObject({
        voice_id: z.string(),
        name: z.string(),
        description: z.string(),
        ...delivered,
      }),
    ),
    usage,
  })
  .meta({ id: 'VoicePreviews' });

export const spokenSchema = z.union([speechSchema, previewsSchema]);

/** What was asked, as far as it is told back. */
export interface RequestedSound extends Pick<SoundRequest<unknown>, 'model' | 'format' | 'n' | 'voiceDescription'> {
  readonly created: number;
}

export function speechView(
  requested: RequestedSound,
  { clips, characters, charged }: SpeechClips,
): z.infer<typeof speechSchema> {
  const [first, ...others] = clips.map((clip) => deliveredView(requested, clip));
  if (first === undefined) throw new Error('there is no clip');
  return {
    object: 'audio.speech',
    created: requested.created,
    model: requested.model,
    ...first,
    ...(requested.n > 1 ? { data: [first, ...others] } : {}),
    usage: speechUsageView(clips, characters, charged),
  };
}

export function previewsView(
  requested: RequestedSound,
  { previews, characters, charged }: VoicePreviews,
): z.infer<typeof previewsSchema> {
  return {
    object: 'audio.voice_previews',
    created: requested.created,
    model: requested.model,
    previews: previews.map((preview, index) => ({
      voice_id: preview.voiceId,
      name: preview.name ?? `Preview ${index + 1}`,
      description: preview.description ?? requested.voiceDescription ?? '',
      ...deliveredView(requested, preview),
    })),
    usage: speechUsageView(previews, characters, charged),
  };
}

function deliveredView(requested: RequestedSound, { sound, length, content }: MadeClip) {
  const seconds = length.milliseconds / 1000;
  return { format: formatOf(sound, requested), mime_type: sound.mimeType, ...contentView(content), seconds };
}

/** As callers name formats: Opus comes in Ogg, and a request that named it `opus` is answered with that name. */
function formatOf({ extension }: Sound, { format }: RequestedSound): string {
  return extension === 'ogg' && format === 'opus' ? format : extension;
}

function contentView(content: Content): { url: string } | { b64_json: string } {
  return 'url' in content ? { url: content.url } : { b64_json: content.base64 };
}

function speechUsageView(
  made: readonly Pick<MadeClip, 'length'>[],
  characters: number,
  charged: MicroCredits,
): z.infer<typeof usage> {
  const milliseconds = made.reduce((sum, { length }) => sum + length.milliseconds, 0);
  return { characters, audio_seconds: milliseconds / 1000, credits: creditsToNumber(charged) };
}
