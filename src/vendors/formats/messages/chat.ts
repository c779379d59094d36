import { readBytes, type Upstream } from '../../kit/http.ts';
import type { Call, Wire } from '../../kit/wire.ts';
import type { ChatWork } from '../../vendor.ts';
import { toAnswer } from './answer.ts';
import { outputTokensMax, toWire } from './request.ts';
import { joinDeltas, readDeltas, toChunks } from './stream.ts';

/** A longer answer may take minutes, and an upstream that does not stream is silent all the while. */
export const UNSTREAMED_TOKENS_MAX = 8192;

/** How a message is sent: `stream` tells whether its answer comes as events. */
type ToCall = (message: ReturnType<typeof toWire>, upstream: Upstream, stream: boolean) => Call;

const toCall: ToCall = (message) => ({ path: '/v1/messages', body: { json: message } });

export function chatOver(wire: Wire, callOf: ToCall = toCall): ChatWork {
  return {
    async complete(request, upstream) {
      const stream = outputTokensMax(request) > UNSTREAMED_TOKENS_MAX;
      const call = callOf(toWire(request, upstream.model, stream), upstream, stream);
      if (stream) return joinDeltas(readDeltas((await wire.events(upstream, call)).body), request.model);
      const reply = await wire.send(upstream, call);
      return toAnswer((await readBytes(reply)).toString('utf8'), request.model);
    },

    async stream(request, upstream) {
      const call = callOf(toWire(request, upstream.model, true), upstream, true);
      return toChunks(readDeltas((await wire.events(upstream, call)).body), request.model);
    },
  };
}
