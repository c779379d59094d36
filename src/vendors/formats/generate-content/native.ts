import { UpstreamError } from '../../../errors.ts';
import { parseObject, readBytes, type Upstream } from '../../kit/http.ts';
import { type Call, contentTypeOf, type Wire } from '../../kit/wire.ts';
import type { NativeFrame, NativeRequest, NativeWork } from '../../vendor.ts';
import { type Frame, readFrames } from './frames.ts';
import { toCall, usageOf } from './wire.ts';

/** The caller's bytes go up and the upstream's come back; a copy is parsed to learn the usage. */
export function nativeOver(wire: Wire): NativeWork {
  return {
    async call(request, upstream) {
      const reply = await wire.send(upstream, callOf(request, upstream));
      const body = await readBytes(reply);
      const answer = parseObject(body.toString('utf8'));
      if (answer === undefined && !request.hasCustomFormat) {
        throw new UpstreamError('garbled', 'the answer is not a JSON object');
      }
      if (answer !== undefined) wire.faults.throwIfError(answer);
      return { contentType: contentTypeOf(reply), body, usage: answer && usageOf(answer) };
    },

    async stream(request, upstream) {
      const reply = await wire.events(
        upstream,
        callOf(request, upstream),
        request.hasCustomFormat ? 'client' : 'garbled',
      );
      return {
        contentType: contentTypeOf(reply),
        frames: toNative(readFrames(reply.body, wire.faults, request.hasCustomFormat)),
      };
    },
  };
}

function callOf({ action, query, contentType, body, accept }: NativeRequest, upstream: Upstream): Call {
  const content = { type: contentType ?? 'application/json', content: body };
  const call = toCall(upstream, { action, body: content, query });
  return accept === undefined ? call : { ...call, accept };
}

async function* toNative(frames: AsyncIterable<Frame>): AsyncIterable<NativeFrame> {
  for await (const { bytes, data, body } of frames) yield { bytes, data, usage: usageOf(body) };
}
