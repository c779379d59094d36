import type { EmbeddingModelV4 } from '@ai-sdk/provider';
import type { Tollgate } from '@tollgate/client';
import { answered, callOptions, NAME, ownFields } from './call.ts';

/** As many as one request of the gateway may have. */
const TEXTS_MAX = 2048;

export function embeddingModel(client: Tollgate, modelId: string): EmbeddingModelV4 {
  return {
    specificationVersion: 'v4',
    provider: NAME,
    modelId,
    maxEmbeddingsPerCall: TEXTS_MAX,
    supportsParallelCalls: true,
    async doEmbed(options) {
      const { values, dimensions, providerOptions } = options;
      const request = { model: modelId, input: values, dimensions, ...ownFields(providerOptions) };
      return answered('/v1/embeddings', request, async () => {
        const { data, usage } = await client.embed(request, callOptions(options));
        return {
          embeddings: data.map(({ embedding }) => [...embedding]),
          usage: { tokens: usage.prompt_tokens },
          providerMetadata: { [NAME]: { credits: usage.credits } },
          warnings: [],
        };
      });
    },
  };
}
