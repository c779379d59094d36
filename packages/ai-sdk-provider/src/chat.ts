import { createOpenAICompatible, type MetadataExtractor } from '@ai-sdk/openai-compatible';
import type { LanguageModelV4 } from '@ai-sdk/provider';
import { NAME } from './call.ts';
import type { TollgateSettings } from './tollgate.ts';

export function chatModel({ baseURL, apiKey, headers, fetch }: TollgateSettings, modelId: string): LanguageModelV4 {
  const models = createOpenAICompatible({
    name: NAME,
    baseURL: `${baseURL.replace(/\/+(?:v1\/*)?$/, '')}/v1`,
    includeUsage: true,
    supportsStructuredOutputs: true,
    metadataExtractor: CREDITS,
    ...(apiKey !== undefined && { apiKey }),
    ...(headers !== undefined && { headers: { ...headers } }),
    ...(fetch !== undefined && { fetch }),
  });
  return models.chatModel(modelId);
}

/** What the call cost: in the answer, or in the last chunk of a stream. */
const CREDITS: MetadataExtractor = {
  extractMetadata: async ({ parsedBody }) => metadataOf(creditsIn(parsedBody)),
  createStreamExtractor() {
    let credits: number | undefined;
    return {
      processChunk(chunk) {
        credits = creditsIn(chunk) ?? credits;
      },
      buildMetadata: () => metadataOf(credits),
    };
  },
};

function metadataOf(credits: number | undefined) {
  return credits === undefined ? undefined : { [NAME]: { credits } };
}

function creditsIn(body: unknown): number | undefined {
  const usage = typeof body === 'object' && body !== null && 'usage' in body ? body.usage : undefined;
  const credits = typeof usage === 'object' && usage !== null && 'credits' in usage ? usage.credits : undefined;
  return typeof credits === 'number' ? credits : undefined;
}
