import { stringAt } from '../kit/json.ts';
import { listingModels } from '../kit/model-list.ts';
import type { VendorWork } from '../vendor.ts';
import { chatOver } from './chat.ts';
import { embedding } from './embedding.ts';
import { imageOver } from './media/image.ts';
import { music } from './media/music.ts';
import { speechOver } from './media/speech.ts';
import { transcription } from './media/transcription.ts';
import { video } from './media/video.ts';
import { nativeOver } from './native.ts';
import { wire } from './wire.ts';

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
