import { toChunks } from '../formats/messages/index.ts';
import type { Upstream } from '../kit/http.ts';
import type { ChatWork } from '../vendor.ts';
import { readDeltas, toAnswer } from './answer.ts';
import { readEventStream } from './event-stream.ts';
import { toWire } from './request.ts';
import { wire } from './wire.ts';

const STREAM = 'application/vnd.amazon.eventstream';

/** Converse, whatever the family of the model. */
export const chat: ChatWork = {
  async complete(request, upstream) {
    const call = { path: pathOf(upstream, 'converse'), body: { json: toWire(request) } };
    return toAnswer(await wire.json(upstream, call), request.model);
  },

  async stream(request, upstream) {
    const call = { path: pathOf(upstream, 'converse-stream'), accept: STREAM, body: { json: toWire(request) } };
    const reply = await wire.events(upstream, call);
    return toChunks(readDeltas(readEventStream(reply.body)), request.model);
  },
};

/** Names have colons, and those of profiles are whole ARNs with slashes. */
export function pathOf({ model }: Upstream, action: string): string {
  return `/model/${encodeURIComponent(model)}/${action}`;
}
