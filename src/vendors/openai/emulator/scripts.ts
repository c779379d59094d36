import type { Answer, ERRORS } from './answers.ts';
import type { Heard, Sound } from './audio.ts';
import type { Vectors } from './embeddings.ts';
import type { Pictures } from './images.ts';

type Json = Record<string, unknown>;

/** What the next request gets. A request that the vendor would refuse is refused whatever the script says. */
export type Script =
  /** `after`: what it waits for before its first byte. */
  | ({ readonly kind: 'answer'; readonly after?: Promise<void> } & Answer)
  | ({ readonly kind: 'pictures' } & Pictures)
  | ({ readonly kind: 'sound' } & Sound)
  | ({ readonly kind: 'transcript' } & Heard)
  | ({ readonly kind: 'vectors' } & Vectors)
  | { readonly kind: 'error'; readonly error: keyof typeof ERRORS; readonly headers?: Readonly<Record<string, string>> }
  /** Each piece is sent when it is there: an object as a frame, a text as it is. */
  | {
      readonly kind: 'frames';
      readonly frames: Iterable<Json | string> | AsyncIterable<Json | string>;
      readonly end?: 'done' | 'close' | 'reset' | 'silence';
    }
  | { readonly kind: 'raw'; readonly status?: number; readonly contentType?: string; readonly body: string }
  | { readonly kind: 'fault'; readonly fault: SocketFault };

/** `reset before the body`: it has read nothing but the headers. `reset when done`: the work is done and will be billed. */
export type SocketFault =
  | 'reset before the body'
  | 'reset'
  | 'reset when done'
  | 'reset in the body'
  | 'silence'
  | 'garbage'
  | 'empty stream'
  | 'wrong content type';

/** The work is done, answered or not. */
export function isDone(script: Script): boolean {
  if (script.kind === 'fault') return script.fault === 'reset when done';
  return script.kind === 'pictures' || script.kind === 'sound' || script.kind === 'transcript';
}
