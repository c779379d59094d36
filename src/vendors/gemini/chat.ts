import type { ChatWork } from '../vendor.ts';
import { toAnswer, toChunks } from './chat-answer.ts';
import { toWire } from './chat-request.ts';
import { readFrames } from './frames.ts';
import { toCall, wire } from './wire.ts';

export const chat: ChatWork = {
  async complete(request, upstream) {
    const body = { json: toWire(request, upstream.model) };
    return toAnswer(await wire.json(upstream, toCall(upstream, { action: 'generateContent', body })));
  },

  async stream(request, upstream) {
    const body = { json: toWire(request, upstream.model) };
    const reply = await wire.events(upstream, toCall(upstream, { action: 'streamGenerateContent', body }));
    return toChunks(readFrames(reply.body));
  },
};
