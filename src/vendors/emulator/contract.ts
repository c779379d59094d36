import type { Fault } from '../../errors.ts';
import type { Wire } from '../kit/wire.ts';

/** What the tests that run over every vendor must know of one. It is `contract` in the vendor's own `contract.ts`. */
export interface VendorContract {
  readonly wire: Wire;
  /** A refusal in the vendor's own shape. */
  readonly refusal: (code: string) => object;
  /** Whether it tells errors in answers of status 200 as well. */
  readonly isErrorInSuccess: boolean;
  /** A server of the vendor's for one kind of work. What can be a task is one, and is over when it is first polled. */
  readonly emulator: (apiKey: string, results: Results, kind?: WorkKind) => Emulator;
  /** Every kind of work that the vendor offers, as plainly as it can be asked for. */
  readonly works: readonly OfferedWork[];
  /**
   * How it tells that a prompt breaks its rules, by kind of work, where no code of the fault table does: status and body,
   * or undefined for a kind that it never refuses so. `none`: it has no such rules.
   */
  readonly policy?: 'none' | ((kind: WorkKind) => readonly [status: number, body: object] | undefined);
  /** The beginning of a stream that is not one of server-sent events. */
  readonly stream?: readonly [type: string, start: string];
  /** The code that an unknown task is told by, where no status says so. */
  readonly lost?: string;
  /** Statuses with a meaning of their own. */
  readonly statuses?: readonly (readonly [status: number, fault: Fault])[];
  /** Models on its wire that differ in what they take. */
  readonly models?: readonly string[];
  /** How a request reads on its wire, by kind of work: what is priced must be what is sent. */
  readonly priced?: readonly PricedWork[];
  /** How its credential is tried without charge; undefined where there is no such call. */
  readonly credential?: CredentialCheck;
}

/** By its name in `VendorWork`. */
export type WorkKind = 'chat' | 'native' | 'embedding' | 'image' | 'video' | 'music' | 'speech' | 'transcription';

export interface OfferedWork {
  readonly kind: WorkKind;
  /** On its wire. */
  readonly model: string;
  /** What a request needs beside the prompt, text or sound. */
  readonly fields?: Readonly<Record<string, string | number>>;
  /** What an upstream needs beside its address and key. */
  readonly upstream?: Readonly<Record<string, string>>;
  /** Answered within the call, although other models of this kind take tasks. */
  readonly isDirect?: boolean;
  /** The path of the submission, where other requests with a body come before it. */
  readonly submission?: RegExp;
}

/** What an emulator delivers. Of the wave, the samples have 16 bits, one channel and a rate of 24 000 a second. */
export interface Results {
  readonly picture: Buffer;
  readonly clip: Buffer;
  readonly sound: Buffer;
  readonly wave: Buffer;
}

const NOTHING = Buffer.alloc(0);
/** For work that delivers none. */
export const NO_RESULTS: Results = { picture: NOTHING, clip: NOTHING, sound: NOTHING, wave: NOTHING };

/** Models of one kind of work whose requests are read in the same way. */
export interface PricedWork {
  readonly kind: 'image' | 'video' | 'music';
  readonly models: readonly string[];
  readonly read: (wire: WireBody) => SentRequest;
}

// biome-ignore lint/suspicious/noExplicitAny: tests look into bodies of every shape
export type WireBody = any;

/** What of a request the price depends on, as an upstream is told it. */
export interface SentRequest {
  readonly quality?: string | undefined;
  readonly tier?: string | undefined;
  readonly size?: string | undefined;
  readonly count?: number | undefined;
  readonly seconds?: number | undefined;
  /** `always`: the model makes no other clips, and has no word for it. */
  readonly hasAudio?: boolean | 'always' | undefined;
  readonly hasReferenceVideo?: boolean | undefined;
}

interface CredentialCheck {
  /** In words for an operator. */
  readonly what: string;
  /** Method and path. */
  readonly request: string;
}

export interface Emulator {
  readonly url: string;
  readonly requests: readonly { readonly method: string; readonly path: string }[];
  start(): Promise<void>;
  stop(): Promise<void>;
}

/** Its tasks are over when they are first polled. */
export function atFirstPoll<Polled extends { readsUntilDone: number }>(emulator: Polled): Polled {
  emulator.readsUntilDone = 0;
  return emulator;
}

/** The smallest tier of pictures that has the pixels. */
export function tierOfPixels(width: number, height: number): string {
  if (Math.max(width, height) === 4096) return '4k';
  const [tier] = [['1k', 1024 ** 2] as const, ['2k', 2048 ** 2] as const].find(
    ([, most]) => width * height <= most,
  ) ?? ['4k'];
  return tier;
}

/** Of a size such as `1024x768`. */
export function sidesOf(size: string): [width: number, height: number] {
  return size.split('x').map(Number) as [number, number];
}
