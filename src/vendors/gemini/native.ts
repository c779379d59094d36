import { UpstreamError } from '../../errors.ts';
import { parseObject, readBytes } from '../kit/http.ts';
import type { NativeFrame, NativeWork } from '../vendor.ts';
import { type Frame, openFrames } from './frames.ts';
import { contentTypeOf, errorOf, post, usageOf } from './wire.ts';

/** The caller's bytes go up and the upstream's come back; a copy is parsed to learn the usage. */
export const native: NativeWork = {
  async call({ accept = 'application/json', ...request }, upstream) {
    const reply = await post(upstream, { ...request, accept });
    const bytes = await readBytes(reply);
    const answer = parseObject(bytes.toString('utf8'));
    if (answer === undefined && !request.isShaped) {
      throw new UpstreamError('garbled', 'the answer is not a JSON object');
    }
    const error = answer && errorOf(answer);
    if (error !== undefined) throw error;
    return { contentType: contentTypeOf(reply), body: bytes, usage: answer && usageOf(answer) };
  },

  async stream({ accept = 'text/event-stream', ...request }, upstream) {
    const reply = await post(upstream, { ...request, accept });
    return { contentType: contentTypeOf(reply), frames: toNative(await openFrames(reply, request.isShaped)) };
  },
};

async function* toNative(frames: AsyncIterable<Frame>): AsyncIterable<NativeFrame> {
  for await (const { bytes, data, body } of frames) yield { bytes, data, usage: usageOf(body) };
}
