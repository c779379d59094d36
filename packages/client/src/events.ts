import { errorOfAnswer, fieldOf, TollgateError } from './errors.ts';
import { piecesOf } from './form.ts';
import { connectionFailed, requestIdOf } from './transport.ts';

/**
 * The JSON of each server-sent event until `[DONE]`. Throws on an event that is an error, and where the stream ends without
 * `[DONE]`: half an answer is never taken for a whole one. Leaving the loop ends the request.
 */
export async function* eventsOf<Event>(response: Response, signal: AbortSignal | undefined): AsyncGenerator<Event> {
  const requestId = requestIdOf(response);
  for await (const data of dataOf(response, signal)) {
    if (data === '[DONE]') return;
    const event: unknown = JSON.parse(data);
    if (fieldOf(event, 'error') !== undefined) throw errorOfAnswer(response.status, requestId, event);
    yield event as Event;
  }
  throw new TollgateError('The stream ended before it was complete.', { code: 'stream_cut', requestId });
}

async function* dataOf(response: Response, signal: AbortSignal | undefined): AsyncGenerator<string> {
  const decoder = new TextDecoder();
  let text = '';
  try {
    for await (const piece of piecesOf(response.body ?? new Blob([]).stream())) {
      text += decoder.decode(piece, { stream: true });
      const lines = text.split('\n');
      text = lines.pop() ?? '';
      for (const line of lines) if (line.startsWith('data:')) yield line.slice('data:'.length).trim();
    }
  } catch (cause) {
    signal?.throwIfAborted();
    throw connectionFailed(cause, requestIdOf(response));
  }
}
