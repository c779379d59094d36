import { imageOver, speechOver } from '../formats/gemini-media/index.ts';
import { chatOver, nativeOver, wire } from '../formats/generate-content/index.ts';
import { stringAt } from '../kit/json.ts';
import { listingModels } from '../kit/model-list.ts';
import type { VendorWork } from '../vendor.ts';
import { embedding } from './embedding.ts';
import { music } from './media/music.ts';
import { transcription } from './media/transcription.ts';
import { video } from './media/video.ts';

export const work: VendorWork = {
  listModels: listingModels(wire, {
    path: (next) => `/v1beta/models?pageSize=1000${next === undefined ? '' : `&pageToken=${encodeURIComponent(next)}`}`,
    key: 'models',
    name: (model) => stringAt(model, 'name')?.replace(/^models\//, ''),
    next: (answer) => stringAt(answer, 'nextPageToken') || undefined,
  }),
  chat: chatOver(wire),
  native: nativeOver(wire),
  embedding,
  image: imageOver(wire),
  video,
  music,
  speech: speechOver(wire),
  transcription,
};
