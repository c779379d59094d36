import { toChunks } from '../formats/messages/index.ts';
import type { ChatWork } from '../vendor.ts';
import { readDeltas, toAnswer } from './answer.ts';
import { toWire } from './request.ts';
import { wire } from './wire.ts';

const PATH = '/v2/chat';

export const chat: ChatWork = {
  async complete(request, upstream) {
    const json = { ...toWire(request), model: upstream.model, stream: false };
    return toAnswer(await wire.json(upstream, { path: PATH, body: { json } }), request.model);
  },

  async stream(request, upstream) {
    const json = { ...toWire(request), model: upstream.model, stream: true };
    const reply = await wire.events(upstream, { path: PATH, body: { json } });
    return toChunks(readDeltas(reply.body), request.model);
  },
};
