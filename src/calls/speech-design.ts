import type { MicroCredits } from '../credits.ts';
import { UpstreamError } from '../errors.ts';
import { SPEECH_INLINE_BYTES_MAX } from '../limits.ts';
import type { VoicePreview } from '../vendors/index.ts';
import { clipUnits, type Length, lengthOfBytes } from './speech-clip.ts';
import { type Content, deliverContent, tooLargeToInline } from './speech-content.ts';
import { firstThatSpeaks, type SpeechOrder } from './speech-order.ts';
import { type Sound, soundOf } from './speech-sound.ts';

/** Voices that were made from a description, each with a clip to know it by; settled. */
export interface VoicePreviews {
  readonly kind: 'previews';
  readonly previews: readonly MadePreview[];
  readonly characters: number;
  readonly charged: MicroCredits;
}

interface MadePreview extends Omit<VoicePreview, 'audio'> {
  readonly sound: Sound;
  readonly length: Length;
  readonly content: Content;
}

/** One request however many previews it brings, and its text counts once; by the second, all of them count. */
export async function designVoices(order: SpeechOrder): Promise<VoicePreviews> {
  const { request, candidates, context, bill, charactersPerClip, clipLength } = order;
  const made = await firstThatSpeaks(order, candidates, context.signal, async (work, upstream) => {
    if (work.design === undefined) throw new Error('a vendor without voice design was asked for it');
    return usable(await work.design(request, upstream));
  });
  const inlineBytes = made.reduce((sum, { audio }) => sum + audio.length, 0);
  if (request.output !== 'url' && inlineBytes > SPEECH_INLINE_BYTES_MAX) throw tooLargeToInline();
  const previews = await Promise.all(
    made.map(async ({ audio, ...preview }) => ({
      ...preview,
      length: await lengthOfBytes(audio, preview.sound, clipLength),
      content: await deliverContent(order, {
        sound: preview.sound,
        bytes: audio.length,
        pieces: () => singlePiece(audio),
      }),
    })),
  );
  const lengths = previews.map(({ length }) => length);
  const { milliseconds } = clipUnits(0, clipLength, lengths);
  const charged = await bill.settle({ characters: charactersPerClip, milliseconds, requests: 1 });
  return { kind: 'previews', previews, characters: charactersPerClip, charged };
}

function usable(previews: readonly VoicePreview[]): (VoicePreview & { readonly sound: Sound })[] {
  const heard = previews.flatMap((preview) => {
    const sound = soundIn(preview.audio);
    return sound === undefined ? [] : [{ ...preview, sound }];
  });
  if (heard.length === 0) throw new UpstreamError('garbled', `none of ${previews.length} previews can be heard`);
  return heard;
}

function soundIn(audio: Buffer): Sound | undefined {
  try {
    return soundOf(audio, true, undefined);
  } catch (error) {
    if (error instanceof UpstreamError) return undefined;
    throw error;
  }
}

async function* singlePiece(audio: Buffer): AsyncIterable<Buffer> {
  yield audio;
}
