import { Engine } from './engine.ts';
import type { Sentence } from './listener.ts';
import type { SpeechOrder } from './speaker.ts';

export type Speaker = Engine<SpeechOrder, Uint8Array>;
export type Listener = Engine<SharedArrayBuffer, Sentence>;

/** An open text costs its encoder's memory. */
const TEXTS_OPEN_MAX = 16;
/** An open recording is held whole. */
const RECORDINGS_OPEN_MAX = 2;

export function speakerEngine(): Speaker {
  return new Engine({ script: new URL('./speaker.ts', import.meta.url), openMax: TEXTS_OPEN_MAX });
}

/** The recogniser takes seconds to load and keeps about 300 MB, so it stays as long as others do not need the room. */
const WARM_MS = 15 * 60_000;
const TIGHT_MS = 30_000;
const FREE_BYTES_MIN = 1024 * 1024 * 1024;

export function listenerEngine(): Listener {
  const script = new URL('./listener.ts', import.meta.url);
  return new Engine({ script, openMax: RECORDINGS_OPEN_MAX, idleMs: () => warmMs(process.availableMemory()) });
}

/** How long a recogniser without work stays loaded, by how much memory the process could still take. */
export function warmMs(freeBytes: number): number {
  return freeBytes >= FREE_BYTES_MIN ? WARM_MS : TIGHT_MS;
}
