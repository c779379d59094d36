import { UpstreamError } from '../../../errors.ts';
import type { TranscriptionRequest } from '../../../schemas/index.ts';
import { toParts } from '../../kit/forms.ts';
import type { Part } from '../../kit/multipart.ts';
import { refuse, refuseKeys, refuseOutside } from '../../kit/refusals.ts';
import type { Wire } from '../../kit/wire.ts';
import type { AudioFile, TranscriptionWork } from '../../vendor.ts';
import { transcriptIn } from './transcript.ts';

/** The text comes with the answer. There is no task, and so nothing to ask after. */
export function transcriptionOver(wire: Wire, familyOf = transcriptionFamily): TranscriptionWork {
  return {
    check(request, upstreamModel) {
      const { isBrief, isDiarising, isAuthors } = familyOf(upstreamModel);
      refuseKeys(request.extra, ['stream'], 'another value');
      refuse('timestamp_granularities', isBrief && request.granularities.length > 0, 'none');
      refuse('prompt', isDiarising && Boolean(request.prompt), 'none');
      if (isAuthors) refuseOutside('temperature', request.temperature, 0, 1);
    },

    translates(upstreamModel) {
      return familyOf(upstreamModel).isTranslating;
    },

    async submit(request, audio, upstream) {
      const family = familyOf(upstream.model);
      refuseFile(audio, family);
      const form = [
        ...valuesOf(request, upstream.model, family),
        { name: 'file', fileName: `audio.${audio.extension}`, file: audio },
      ];
      const reply = await wire.send(upstream, { path: PATHS[request.task], body: { form } });
      return { state: 'transcribed', transcript: await transcriptIn(reply, wire.faults) };
    },
  };
}

const PATHS = { transcribe: '/audio/transcriptions', translate: '/audio/translations' } as const;

export interface TranscriptionFamily {
  readonly isAuthors: boolean;
  /** It tells the text and no times. */
  readonly isBrief: boolean;
  /** It tells speakers apart. */
  readonly isDiarising: boolean;
  /** It writes down in English what is spoken in another language. */
  readonly isTranslating: boolean;
}

/** By the model's name behind any path. Whatever is not known is taken to know all that the format does. */
export function transcriptionFamily(upstreamModel: string): TranscriptionFamily {
  const name = upstreamModel.slice(upstreamModel.lastIndexOf('/') + 1);
  const isBrief = /^gpt-.*transcribe/.test(name);
  return {
    isBrief,
    isAuthors: isBrief || name === 'whisper-1',
    isDiarising: isBrief && name.includes('diarize'),
    isTranslating: /^whisper-(1|(tiny|base|small|medium|large)(-v\d)?)$/.test(name),
  };
}

/** Times are asked for only where they are wanted: they take the upstream longer. */
function valuesOf(
  request: TranscriptionRequest,
  upstreamModel: string,
  { isBrief, isDiarising }: TranscriptionFamily,
): Part[] {
  const { extra, language, prompt, temperature, responseFormat, granularities } = request;
  const isVerbose = !isBrief && (responseFormat === 'verbose_json' || granularities.length > 0);
  const fields = {
    // Without it, such a model takes no more than half a minute.
    ...(isDiarising && { chunking_strategy: 'auto' }),
    ...extra,
    model: upstreamModel,
    language: language || undefined,
    prompt: prompt || undefined,
    temperature,
    response_format: isVerbose ? 'verbose_json' : 'json',
    timestamp_granularities: granularities,
  };
  // A value of the caller's own never stands beside the file.
  return toParts(fields, 'brackets').filter(({ name }) => !/^file(\[|$)/.test(name));
}

const FILE_BYTES_MAX = 25 * 1024 * 1024;
const EXTENSIONS: ReadonlySet<string> = new Set(['flac', 'm4a', 'mp3', 'mp4', 'mpeg', 'mpga', 'ogg', 'wav', 'webm']);

/** What the format's author is known to refuse is not sent there first. */
function refuseFile({ bytes, extension }: AudioFile, { isAuthors }: TranscriptionFamily): void {
  if (!isAuthors) return;
  if (bytes > FILE_BYTES_MAX) throw new UpstreamError('unfit', `a file of ${bytes} bytes is too large`);
  if (!EXTENSIONS.has(extension)) throw new UpstreamError('unfit', `no ${extension} is taken`);
}
