import type {
  EmbeddingModelV4,
  Experimental_VideoModelV4,
  ImageModelV4,
  LanguageModelV4,
  ProviderV4,
  SpeechModelV4,
  TranscriptionModelV4,
} from '@ai-sdk/provider';
import { Tollgate } from '@tollgate/client';
import { chatModel } from './chat.ts';
import { embeddingModel } from './embedding.ts';
import { imageModel } from './image.ts';
import { speechModel } from './speech.ts';
import { transcriptionModel } from './transcription.ts';
import { videoModel } from './video.ts';

export interface TollgateSettings {
  /** The gateway's address, without `/v1`. */
  readonly baseURL: string;
  readonly apiKey?: string | undefined;
  /** Sent with every request. */
  readonly headers?: Readonly<Record<string, string>> | undefined;
  /** In place of the global one. */
  readonly fetch?: typeof fetch | undefined;
}

/** The models of a gateway by their names. Called as a function, it gives one for chat. */
export interface TollgateModels extends ProviderV4 {
  (modelId: string): LanguageModelV4;
  videoModel(modelId: string): Experimental_VideoModelV4;
  speechModel(modelId: string): SpeechModelV4;
  transcriptionModel(modelId: string): TranscriptionModelV4;
  embeddingModel(modelId: string): EmbeddingModelV4;
  imageModel(modelId: string): ImageModelV4;
}

export function createTollgate({ baseURL, ...settings }: TollgateSettings): TollgateModels {
  const client = new Tollgate({ baseUrl: baseURL, ...settings });
  const languageModel = (modelId: string) => chatModel({ baseURL, ...settings }, modelId);
  return Object.assign(languageModel.bind(undefined), {
    specificationVersion: 'v4' as const,
    languageModel,
    imageModel: (modelId: string) => imageModel(client, modelId),
    videoModel: (modelId: string) => videoModel(client, modelId),
    speechModel: (modelId: string) => speechModel(client, modelId),
    transcriptionModel: (modelId: string) => transcriptionModel(client, modelId),
    embeddingModel: (modelId: string) => embeddingModel(client, modelId),
  });
}
