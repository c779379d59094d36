import type { SpeechModelV4 } from '@ai-sdk/provider';
import type { SoundRequest, Tollgate } from '@tollgate/client';
import { answered, callOptions, NAME, ownFields, responseOf } from './call.ts';

export function speechModel(client: Tollgate, modelId: string): SpeechModelV4 {
  return {
    specificationVersion: 'v4',
    provider: NAME,
    modelId,
    async doGenerate(options) {
      const { text, voice, outputFormat, instructions, speed, language, providerOptions } = options;
      const request = {
        model: modelId,
        input: text,
        voice,
        // The gateway names the formats that there are where this is none of them.
        response_format: outputFormat as SoundRequest['response_format'],
        instructions,
        speed,
        language,
        ...ownFields(providerOptions),
      };
      return answered('/v1/audio/speech', request, async () => {
        const media = await client.speak(request, callOptions(options));
        const audio = await media.bytes();
        const metadata =
          media.credits === undefined ? {} : { providerMetadata: { [NAME]: { credits: media.credits } } };
        return { audio, warnings: [], response: responseOf(modelId), ...metadata };
      });
    },
  };
}
