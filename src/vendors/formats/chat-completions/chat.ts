import { UpstreamError } from '../../../errors.ts';
import type { JsonObject } from '../../../json.ts';
import { EventChunks, type EventReader } from '../../kit/chunks.ts';
import type { FaultTable } from '../../kit/faults.ts';
import { parseObject } from '../../kit/http.ts';
import { listAt } from '../../kit/json.ts';
import { parseEvent, type SseEvent } from '../../kit/sse.ts';
import type { Wire } from '../../kit/wire.ts';
import type { ChatChunk, ChatWork } from '../../vendor.ts';
import { Choices, toBody, toChoice } from './choices.ts';
import { PlainFrames } from './plain-frames.ts';
import { toCall } from './request.ts';
import { usageIn } from './usage.ts';

/** The format's author, and every server that speaks it more or less. */
export function chatOver(wire: Wire): ChatWork {
  return {
    async complete(request, upstream) {
      const answer = await wire.json(upstream, toCall(request, upstream));
      const choices = listAt(answer, 'choices') ?? [];
      if (choices.length === 0) throw new UpstreamError('garbled', 'an answer without choices');
      const clean = choices.map((choice, at) => toChoice(choice, at, wire.faults));
      return { body: toBody('chat.completion', request.model, answer, clean), usage: usageIn(answer) };
    },

    async stream(request, upstream) {
      const { body } = await wire.events(upstream, toCall(request, upstream));
      return new EventChunks(body, new FrameReader(request.model, wire.faults));
    },
  };
}

/** Reads the frames of one stream. */
class FrameReader implements EventReader {
  readonly #model: string;
  readonly #faults: FaultTable;
  readonly #choices: Choices;
  readonly #plain = new PlainFrames();
  #isEmpty = true;
  isDone = false;

  constructor(model: string, faults: FaultTable) {
    this.#model = model;
    this.#faults = faults;
    this.#choices = new Choices(faults);
  }

  read(event: SseEvent): ChatChunk | undefined {
    const plain = event.event === '' ? this.#plain.read(event.data) : undefined;
    if (plain !== undefined) {
      this.#choices.begin(plain.index);
      return { body: plain.body, written: plain, usage: undefined };
    }
    this.isDone = event.data === '[DONE]';
    if (this.isDone || isComment(event)) return undefined;
    const chunk = toChunk(frameOf(event, this.#faults), this.#model, this.#choices);
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

function frameOf(event: SseEvent, faults: FaultTable): JsonObject {
  if (event.event === 'error') {
    const error = parseObject(event.data);
    throw faults.toError(error?.error ?? error ?? event.data, error);
  }
  const frame = parseEvent(event);
  faults.throwIfError(frame);
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
