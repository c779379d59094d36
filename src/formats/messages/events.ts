import type { JsonObject } from '../../json.ts';

/** One event. Clients of this format go by its name, which stands in the data as well. */
export function eventOf(body: JsonObject & { readonly type: string }): string {
  return namedEvent(body.type, JSON.stringify(body));
}

export function namedEvent(name: string, data: string): string {
  return `event: ${name}\ndata: ${data}\n\n`;
}

/** Written while nothing else is. */
export const PING = eventOf({ type: 'ping' });
