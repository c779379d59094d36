import type { OfferedWork, VendorContract, WorkKind } from '../../src/vendors/emulator/contract.ts';
import { loadVendor, type Vendor } from '../../src/vendors/index.ts';
import { contract as acmeContract } from './acme/contract.ts';
import { acme } from './acme/index.ts';
import { CLIP, clipForm, TRANSCRIPTIONS } from './booth.ts';
import type { Fields } from './documents.ts';
import type { CallOptions } from './gateway.ts';
import { loadedVendors } from './loaded-vendors.ts';
import { MUSIC, VIDEOS } from './media-models.ts';
import { SPEECH } from './speech-studio.ts';
import { IMAGES } from './studio.ts';
import { vendorContracts } from './vendor-contracts.ts';

/** One kind of work of one vendor, as a caller of the whole program asks for it. */
export interface WholeWork {
  readonly name: string;
  readonly vendor: Vendor;
  readonly contract: VendorContract;
  readonly offered: OfferedWork;
  readonly isStream: boolean;
}

interface AskedKind {
  readonly modality: string;
  readonly endpoint: string;
  readonly call: (model: string, fields: Fields) => readonly [path: string, options: CallOptions];
}

const inJson = (path: string, plain: Fields) => (model: string, fields: Fields) =>
  [path, { body: { model, ...plain, ...fields } }] as const;

const ASKED: Readonly<Record<WorkKind, AskedKind>> = {
  chat: {
    modality: 'chat',
    endpoint: 'chat',
    call: inJson('/v1/chat/completions', { messages: [{ role: 'user', content: 'Hi' }] }),
  },
  native: {
    modality: 'chat',
    endpoint: 'native',
    call: (model, fields) => {
      const contents = [{ role: 'user', parts: [{ text: 'Hi' }] }];
      return [`/v1beta/models/${model}:generateContent`, { body: { contents, ...fields } }];
    },
  },
  embedding: { modality: 'chat', endpoint: 'embeddings', call: inJson('/v1/embeddings', { input: 'Hi' }) },
  image: { modality: 'image', endpoint: 'images', call: inJson(IMAGES, { prompt: 'A toll gate' }) },
  video: { modality: 'video', endpoint: 'videos', call: inJson(VIDEOS, { prompt: 'A toll gate' }) },
  music: { modality: 'audio', endpoint: 'audio_music', call: inJson(MUSIC, { prompt: 'A march' }) },
  speech: { modality: 'audio', endpoint: 'audio_speech', call: inJson(SPEECH, { input: 'Hello there.' }) },
  transcription: {
    modality: 'audio',
    endpoint: 'transcriptions',
    call: (model, fields) => [TRANSCRIPTIONS, clipForm(CLIP, { model, ...(fields as Record<string, string>) })],
  },
};

export const WORK_KINDS = Object.keys(ASKED) as readonly WorkKind[];
const JOB_KINDS: readonly WorkKind[] = ['image', 'video', 'music'];
/** Credits for one request of any kind. */
export const WHOLE_PRICE = 7;

/** Every vendor that is asked over the network, and the guide's example. */
export const contractedVendors: readonly (readonly [Vendor, VendorContract])[] = [
  ...loadedVendors.flatMap((vendor) => {
    const contract = vendorContracts.get(vendor.name);
    return contract === undefined ? [] : [[vendor, contract] as const];
  }),
  [await loadVendor(acme), acmeContract],
];

export const wholeWorks: readonly WholeWork[] = contractedVendors.flatMap(([vendor, contract]) =>
  contract.works.flatMap((offered) => {
    const whole = { name: `${vendor.name} ${offered.kind}`, vendor, contract, offered, isStream: false };
    const streamed = { ...whole, name: `${whole.name} stream`, isStream: true };
    return offered.kind === 'chat' ? [whole, streamed] : [whole];
  }),
);

export function isJob({ offered }: WholeWork): boolean {
  return JOB_KINDS.includes(offered.kind);
}

/** Whether the upstream takes a task that is polled, and so outlives the process that submitted it. */
export function isTask({ vendor, offered }: WholeWork): boolean {
  const { kind, isDirect = false } = offered;
  if (isDirect) return false;
  if (kind === 'transcription') return vendor.transcription?.poll !== undefined;
  return (kind === 'image' || kind === 'video' || kind === 'music') && vendor[kind]?.poll !== undefined;
}

/** Whether a task is found again whose submission got no answer. */
export function isAdopted({ vendor, offered: { kind } }: WholeWork): boolean {
  return (kind === 'image' || kind === 'video' || kind === 'music') && vendor[kind]?.adopt !== undefined;
}

export function callOf({ offered, isStream }: WholeWork, model: string): readonly [string, CallOptions] {
  const fields = { ...offered.fields, ...(isStream && { stream: true }) };
  return ASKED[offered.kind].call(model, fields);
}

export function modelOf({ offered }: WholeWork, id: string, upstreams: readonly string[]): Fields {
  const { modality, endpoint } = ASKED[offered.kind];
  return {
    id,
    modality,
    owned_by: 'house',
    endpoints: [endpoint],
    pricing: { mode: 'per_request', credits: { base: WHOLE_PRICE } },
    routes: upstreams.map((upstream) => ({ upstream, model: offered.model })),
  };
}
