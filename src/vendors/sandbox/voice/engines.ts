import { Engine } from './engine.ts';
import type { SpeechOrder } from './speaker.ts';

/** A text that is open costs its encoder's memory. */
const TEXTS_OPEN_MAX = 16;

export function speakerEngine(): Engine<SpeechOrder, Uint8Array> {
  return new Engine({ script: new URL('./speaker.ts', import.meta.url), openMax: TEXTS_OPEN_MAX });
}
