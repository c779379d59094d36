import type { SoundRequest } from '../../schemas/index.ts';
import { unsupported } from '../../unsupported.ts';
import { refuseFields } from '../kit/mapping.ts';
import { SOUND_NAMES } from '../kit/public-names.ts';
import { refuseKeys, refuseLength, refuseOutside } from '../kit/refusals.ts';
import { openSound } from '../kit/sound.ts';
import type { Media, SpeechWork } from '../vendor.ts';
import { formatFor } from './formats.ts';
import { parseVoice, voiceOf } from './voices.ts';
import { pathWith, wire } from './wire.ts';

const TEXT_CHARS_MAX = 2000;
const FIELDS = ['input', 'voice', 'referenceId', 'language', 'format', 'sampleRate', 'bitrate', 'speed'] as const;
/** Its voices, the first that there were, have one pace. */
const FAMILY_WITHOUT_SPEED = 'aura';

/** Sound that comes while it is made. */
export const speech: SpeechWork = {
  check: (request, upstreamModel) => void callOf(request, upstreamModel),

  async speak(request, upstream) {
    const { path, text, rate } = callOf(request, upstream.model);
    const reply = await wire.send(upstream, { path, accept: '*/*', body: { json: { text } } });
    const pieces = await openSound(reply, (document) => wire.faults.throwIfError(document));
    const count = /^\d{1,9}$/.exec(String(reply.headers['dg-char-count'] ?? ''));
    return {
      pieces,
      ...(request.format === 'pcm' && { samples: { rate, channels: 1 } }),
      ...(count !== null && { characters: Number(count[0]) }),
    };
  },
};

/** Throws ApiError for what the model cannot take. */
function callOf(request: SoundRequest<Media>, upstreamModel: string): { path: string; text: string; rate: number } {
  refuseFields(request, FIELDS, SOUND_NAMES);
  // What is made of the format, where the sound would go, and what the vendor charges more for.
  refuseKeys(request.extra, ['encoding', 'container', 'bit_rate', 'callback', 'callback_method', 'mip_opt_out']);
  const { input: text, speed } = request;
  if (!text) throw unsupported('input', { atLeast: 1, unit: 'character' });
  refuseLength('input', text, 1, TEXT_CHARS_MAX);
  const model = voiceOf(request, upstreamModel);
  if (speed !== undefined && parseVoice(model)?.family === FAMILY_WITHOUT_SPEED) throw unsupported('speed');
  refuseOutside('speed', speed, 0.7, 1.5);
  const { options, rate } = formatFor(request);
  return { path: pathWith('/v1/speak', { ...request.extra, model, ...options, speed }), text, rate };
}
