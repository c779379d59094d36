import type { TranscriptionModelV4 } from '@ai-sdk/provider';
import type { Tollgate } from '@tollgate/client';
import { answered, bytesOfBase64, callOptions, NAME, ownFields, responseOf } from './call.ts';

export function transcriptionModel(client: Tollgate, modelId: string): TranscriptionModelV4 {
  return {
    specificationVersion: 'v4',
    provider: NAME,
    modelId,
    async doGenerate(options) {
      const { audio, mediaType, timestampGranularities, providerOptions } = options;
      const request = {
        model: modelId,
        response_format: 'verbose_json' as const,
        timestamp_granularities: timestampGranularities,
        ...ownFields(providerOptions),
      };
      const bytes = typeof audio === 'string' ? bytesOfBase64(audio) : audio;
      const file = new Blob([new Uint8Array(bytes)], { type: mediaType });
      return answered('/v1/audio/transcriptions', request, async () => {
        const heard = await client.transcribe({ ...request, file }, callOptions(options));
        const times = ({ start, end }: { start: number; end: number }) => ({ startSecond: start, endSecond: end });
        return {
          text: heard.text,
          segments: (heard.segments ?? []).map((segment) => ({ text: segment.text, ...times(segment) })),
          ...(heard.words && { words: heard.words.map((word) => ({ text: word.word, ...times(word) })) }),
          language: heard.language ?? undefined,
          durationInSeconds: heard.duration,
          warnings: [],
          response: responseOf(modelId),
          providerMetadata: { [NAME]: { credits: heard.usage.credits } },
        };
      });
    },
  };
}
