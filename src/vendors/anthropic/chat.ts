import { readBytes } from '../kit/http.ts';
import type { ChatWork } from '../vendor.ts';
import { toAnswer } from './answer.ts';
import { outputTokensMax, toWire } from './request.ts';
import { joinDeltas, readDeltas, toChunks } from './stream.ts';
import { wire } from './wire.ts';

const path = '/v1/messages';

/** A longer answer may take minutes, and an upstream that does not stream is silent all the while. */
export const UNSTREAMED_TOKENS_MAX = 8192;

export const chat: ChatWork = {
  async complete(request, upstream) {
    const stream = outputTokensMax(request) > UNSTREAMED_TOKENS_MAX;
    const call = { path, body: { json: toWire(request, upstream.model, stream) } };
    if (stream) return joinDeltas(readDeltas((await wire.events(upstream, call)).body), request.model);
    const reply = await wire.send(upstream, call);
    return toAnswer((await readBytes(reply)).toString('utf8'), request.model);
  },

  async stream(request, upstream) {
    const call = { path, body: { json: toWire(request, upstream.model, true) } };
    return toChunks(readDeltas((await wire.events(upstream, call)).body), request.model);
  },
};
