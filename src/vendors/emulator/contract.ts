import type { Fault } from '../../errors.ts';
import type { Wire } from '../kit/wire.ts';

/** What the tests that run over every vendor must know of one. It is `contract` in the vendor's own `contract.ts`. */
export interface VendorContract {
  readonly wire: Wire;
  /** A refusal in the vendor's own shape. */
  readonly refusal: (code: string) => object;
  /** Whether it tells errors in answers of status 200 as well. */
  readonly isErrorInSuccess: boolean;
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
  readonly emulator: (apiKey: string) => Emulator;
}

interface Emulator {
  readonly url: string;
  readonly requests: readonly { readonly method: string; readonly path: string }[];
  start(): Promise<void>;
  stop(): Promise<void>;
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
