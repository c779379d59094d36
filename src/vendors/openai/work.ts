import { chatOver, embeddingOver, wire } from '../formats/chat-completions/index.ts';
import { imageOver, speechOver, transcriptionOver } from '../formats/openai-media/index.ts';
import { readingCheck } from '../kit/credential-check.ts';
import { byId, listingModels } from '../kit/model-list.ts';
import type { VendorWork } from '../vendor.ts';
import { responses } from './responses.ts';

export const work: VendorWork = {
  check: readingCheck(wire, 'a list of its models', '/models'),
  listModels: listingModels(wire, { path: () => '/models', key: 'data', name: byId }),
  chat: chatOver(wire),
  responses,
  embedding: embeddingOver(wire),
  image: imageOver(wire),
  speech: speechOver(wire),
  transcription: transcriptionOver(wire),
};
