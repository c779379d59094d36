import { UpstreamError } from '../../errors.ts';
import type { JsonObject } from '../../json.ts';
import { EventChunks, type EventReader } from '../kit/chunks.ts';
import { parseObject, readJson, send } from '../kit/http.ts';
import { listAt } from '../kit/json.ts';
import type { SseEvent } from '../kit/sse.ts';
import type { ChatChunk, ChatWork } from '../vendor.ts';
import { Choices, toBody, toChoice } from './choices.ts';
import { refuseDocument } from './documents.ts';
import { faultOf, throwIfError, toUpstreamError } from './faults.ts';
import { PlainFrames } from './plain-frames.ts';
import { toCall } from './request.ts';
import { usageIn } from './usage.ts';

const LF = 0x0a;
const CR = 0x0d;

/** The format's author, and every server that speaks it more or less. */
export const chat: ChatWork = {
  async complete(request, upstream) {
    const answer = await readJson(await send(upstream, toCall(request, upstream), { faultOf }));
    throwIfError(answer);
    const choices = listAt(answer, 'choices') ?? [];
    if (choices.length === 0) throw new UpstreamError('garbled', 'an answer without choices');
    const body = toBody('chat.completion', request.model, answer, choices.map(toChoice));
    return { body, usage: usageIn(answer) };
  },

  async stream(request, upstream) {
    const reply = await send(upstream, toCall(request, upstream), { faultOf });
    await refuseDocument(reply, (type) => type.includes('event-stream'));
    return new EventChunks(reply.body, new FrameReader(request.model));
  },
};

/** Reads the frames of one stream. */
class FrameReader implements EventReader {
  readonly #model: string;
  readonly #choices = new Choices();
  readonly #plain = new PlainFrames();
  #isEmpty = true;
  isDone = false;

  constructor(model: string) {
    this.#model = model;
  }

  read(event: SseEvent): ChatChunk | undefined {
    const plain = event.event === '' ? this.#plain.read(event.data) : undefined;
    if (plain !== undefined) {
      this.#choices.begin(plain.index);
      return { body: plain.body, written: plain, usage: undefined };
    }
    this.isDone = event.data === '[DONE]';
    if (this.isDone || isComment(event)) return undefined;
    const chunk = toChunk(frameOf(event), this.#model, this.#choices);
    if (chunk !== undefined) this.#isEmpty = false;
    if (chunk?.body !== undefined) this.#plain.learn(event.data, chunk.body);
    return chunk;
  }

  end(): void {
    // Not every server sends the marker; a finished answer is then its end.
    if (this.isDone || this.#isEmpty || this.#choices.areFinished) return;
    throw new UpstreamError('server', 'the stream broke off');
  }
}

function isComment({ data, event }: SseEvent): boolean {
  return data === '' && event !== 'error';
}

function frameOf({ data, event, bytes }: SseEvent): JsonObject {
  const frame = parseObject(data);
  if (event === 'error') throw toUpstreamError(frame?.error ?? frame ?? data, frame);
  if (frame === undefined) {
    const isCut = bytes.at(-1) !== LF && bytes.at(-1) !== CR;
    throw new UpstreamError(
      isCut ? 'server' : 'garbled',
      isCut ? 'the stream broke off in a frame' : 'a frame is no JSON object',
    );
  }
  throwIfError(frame);
  return frame;
}

/** Undefined if the frame tells nothing. */
function toChunk(frame: JsonObject, model: string, choices: Choices): ChatChunk | undefined {
  const usage = usageIn(frame);
  const list = listAt(frame, 'choices');
  if (list !== undefined && list.length > 0) {
    const read = list.map((choice, at) => choices.read(choice, at));
    return { body: toBody('chat.completion.chunk', model, frame, read), usage };
  }
  if (list === undefined && frame.usage === undefined) throw new UpstreamError('garbled', 'a frame without choices');
  return usage === undefined ? undefined : { body: undefined, usage };
}
