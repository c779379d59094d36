import type { JsonObject } from '../../json.ts';
import type { ResponseObject } from './response.ts';

/** Writes the events of one stream and numbers them without gaps. */
export class Events {
  #next = 0;

  /** `fields` are whatever the event has besides its type and number. */
  of(type: string, fields: JsonObject): string {
    return this.withHead(eventHead(type, fields), '');
  }

  /** With the response object as JSON. */
  ofResponse(type: string, response: string): string {
    return this.withHead(eventHead(type, {}), `"response":${response},`);
  }

  /** The events before any output. */
  beginning(response: ResponseObject): string {
    const text = response.text({ status: 'in_progress', output: [], usage: null });
    return this.ofResponse('response.created', text) + this.ofResponse('response.in_progress', text);
  }

  /** For events that come in great number: the part before the number is written once (`eventHead`). */
  withHead(head: string, fields: string): string {
    return `${head}${fields}"sequence_number":${this.#next++}}\n\n`;
  }
}

/** The beginning of an event, up to and with the comma before its further fields. */
export function eventHead(type: string, fields: JsonObject): string {
  return `event: ${type}\ndata: ${JSON.stringify({ type, ...fields }).slice(0, -1)},`;
}
