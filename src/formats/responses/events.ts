import type { JsonObject } from '../../json.ts';

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

  /** For events that come in great number: the part before the number is written once (`eventHead`). */
  withHead(head: string, fields: string): string {
    return `${head}${fields}"sequence_number":${this.#next++}}\n\n`;
  }
}

/** The beginning of an event, up to and with the comma before its further fields. */
export function eventHead(type: string, fields: JsonObject): string {
  return `event: ${type}\ndata: ${JSON.stringify({ type, ...fields }).slice(0, -1)},`;
}
