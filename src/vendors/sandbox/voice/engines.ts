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

export function listenerEngine(): Listener {
  return new Engine({ script: new URL('./listener.ts', import.meta.url), openMax: RECORDINGS_OPEN_MAX });
}
