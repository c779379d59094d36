import type { JsonObject } from '../json.ts';
import type { ChatRequest, ImageRequest, SoundRequest, TranscriptionRequest, VideoRequest } from '../schemas/index.ts';
import type { CredentialCheck } from './credentials.ts';
import type { EmbeddingWork } from './embedding-work.ts';
import type { FormatWork } from './format-work.ts';
import type { Upstream } from './kit/http.ts';
import type { ListModels } from './kit/model-list.ts';
import type { VendorTerms } from './listed.ts';

export type { CredentialCheck } from './credentials.ts';
export type { Embeddings, EmbeddingWork } from './embedding-work.ts';

/** A foreign wire format that is loaded: what an upstream that speaks it must be given, and the work it can do. */
export interface Vendor extends VendorTerms, VendorWork {}

export interface VendorWork {
  /** Absent where the vendor has no request that costs nothing and is refused without the credential. */
  readonly check?: CredentialCheck;
  /** What the upstream offers; absent where the vendor has no call that tells it. */
  readonly listModels?: ListModels;
  /** What is absent is not offered. */
  readonly chat?: ChatWork;
  readonly native?: NativeWork;
  /** Formats of text generation besides chat; where one is absent, the format is translated over `chat`. */
  readonly responses?: FormatWork;
  readonly messages?: FormatWork;
  readonly embedding?: EmbeddingWork;
  readonly image?: TaskWork<ImageRequest<Media>>;
  readonly video?: TaskWork<VideoRequest<Media>>;
  readonly music?: TaskWork<SoundRequest<Media>>;
  readonly speech?: SpeechWork;
  readonly transcription?: TranscriptionWork;
}

/** A picture or clip that goes with a request. Its type was found by looking at its bytes. */
export interface Media {
  readonly mimeType: string;
  readonly bytes: number;
  /** A public address of the same, if there is one; its canonical form, already checked. */
  readonly url: string | undefined;
  /** The whole of it. Vendors that can take a URL prefer it for what is large. */
  read(): Promise<Buffer>;
  /** The same piece by piece, for what need not be held; from its beginning each time. */
  pieces(): AsyncIterable<Buffer>;
}

/**
 * Work that takes a while and may outlive this process. The job's engine calls, waits and remembers; the adaptor only
 * translates. Requests hold media as bytes, whatever the caller gave.
 */
export interface TaskWork<Request> {
  /** Throws ApiError `unsupported_parameter`, naming the field, for what this model cannot take. Pure; nothing is held yet. */
  check(request: Request, upstreamModel: string): void;
  /** How many results one call can bring, at least 1; a job that wants more calls as often as it must. */
  perCall(request: Request, upstreamModel: string): number;
  /** One call. Throws UpstreamError. After `timeout`, `garbled` or a broken connection it may have been accepted. */
  submit(request: Request, order: TaskOrder, upstream: Upstream): Promise<Submitted>;
  /** Asks after an accepted task, also after a restart. An upstream that knows no such task any more has failed it. */
  poll?(task: JsonObject, upstream: Upstream): Promise<Progress>;
  /** The bytes of an output by its `path`, streamed. */
  open?(path: string, upstream: Upstream): Promise<AsyncIterable<Buffer>>;
  /** Looks for a task whose submission got no answer. Undefined: it never arrived. Unknown, or absent: there is no way to tell. */
  adopt?(request: Request, order: TaskOrder, upstream: Upstream): Promise<Adopted>;
}

export interface TaskOrder {
  /** Unique to this call and the same when it is looked for: for vendors that take a name from their client. */
  readonly id: string;
  /** How many results this call is for; between 1 and `perCall`. */
  readonly count: number;
  /** How long the upstream may let the work wait before it begins. */
  readonly startWithinMs: number;
  /** When the call was written down, right before it was made; for a list of tasks by time. */
  readonly calledAt?: Date;
}

/** `task` is all that `poll` needs; it is stored unread. */
export type Submitted = { readonly state: 'accepted'; readonly task: JsonObject } | Succeeded;
export type Adopted = Submitted | { readonly state: 'unknown' } | undefined;
export type Progress = Running | Succeeded | Failed;

interface Running {
  readonly state: 'running';
  readonly percent?: number;
  /** How long the upstream wants not to be asked again. */
  readonly pollAfterMs?: number;
}

export interface Succeeded {
  readonly state: 'succeeded';
  readonly outputs: readonly Output[];
  /** What the upstream says that it counted; for the operator, since a job costs what was quoted. */
  readonly usage?: TaskUsage;
}

export interface TaskUsage {
  readonly inputTokens?: number | undefined;
  readonly outputTokens?: number | undefined;
  readonly seconds?: number | undefined;
  /** In the vendor's own unit of account. */
  readonly credits?: number | undefined;
}

/**
 * Where a result is: at an address that is fetched through the guard without any credential, at a path behind the
 * upstream's credential (`TaskWork.open`), or already here.
 */
export type Output = ({ readonly url: string } | { readonly path: string } | { readonly data: Buffer }) & {
  /** A small picture of a result, not a result. */
  readonly isThumbnail?: boolean;
};

/** `detail` is the vendor's own text and goes to the log only. */
export interface Failed {
  readonly state: 'failed';
  readonly code: 'upstream_failed' | 'upstream_rejected' | 'content_rejected';
  readonly detail: string;
}

/** Text to sound, answered while the caller waits. An adaptor translates, as for chat. */
export interface SpeechWork {
  /** Throws ApiError `unsupported_parameter`, naming the field, for what this model cannot take. Pure; nothing is held yet. */
  check(request: SoundRequest<Media>, upstreamModel: string): void;
  /** One clip, whatever `n` says. Resolves when the upstream has accepted; throws UpstreamError until then and in between. */
  speak(request: SoundRequest<Media>, upstream: Upstream): Promise<Speech>;
  /** Voices that do not exist yet, from a description; absent where none are made. */
  design?(request: SoundRequest<Media>, upstream: Upstream): Promise<readonly VoicePreview[]>;
}

export interface Speech {
  /** As they come. A reader that stops closes the connection. */
  readonly pieces: AsyncIterable<Buffer>;
  /** Where the sound lies, for `pieces` that are empty: it is fetched through the guard without any credential. */
  readonly url?: string;
  /** Of samples without a header, which cannot say it themselves: 16 bits each, small end first. */
  readonly samples?: { readonly rate: number; readonly channels: number };
  /** What the upstream says it counted. */
  readonly characters?: number;
}

export interface VoicePreview {
  /** What the upstream knows the voice by; a caller may name it as `reference_id`. */
  readonly voiceId: string;
  readonly name: string | undefined;
  readonly description: string | undefined;
  readonly audio: Buffer;
}

/** Sound to text. The upstream answers at once, or takes a task that is asked after, also after a restart. */
export interface TranscriptionWork {
  /** As for speech. */
  check(request: TranscriptionRequest, upstreamModel: string): void;
  /** Whether `submit` takes the task `translate`; absent where no model does. */
  translates?(upstreamModel: string): boolean;
  /** Throws UpstreamError. After `timeout`, `garbled` or a broken connection it may have been accepted. */
  submit(request: TranscriptionRequest, audio: AudioFile, upstream: Upstream): Promise<Transcribing>;
  /** Asks after an accepted task. An upstream that knows no such task any more has lost it. */
  poll?(task: JsonObject, upstream: Upstream): Promise<TranscriptionProgress>;
}

/** What is to be transcribed. */
export interface AudioFile extends Media {
  /** As is usual for its format, without the dot: some upstreams go by it. */
  readonly extension: string;
  readonly seconds: number;
}

export type Transcribing = { readonly state: 'accepted'; readonly task: JsonObject } | Transcribed;
export type TranscriptionProgress = { readonly state: 'running' } | { readonly state: 'lost' } | Transcribed | Failed;

interface Transcribed {
  readonly state: 'transcribed';
  readonly transcript: Transcript;
}

/** Times are in seconds, the language is an ISO code. What the upstream does not tell is absent. */
export interface Transcript {
  readonly text: string;
  readonly language?: string | undefined;
  /** How long the upstream says that the sound is. */
  readonly seconds?: number | undefined;
  readonly segments?: readonly TranscriptSegment[] | undefined;
  readonly words?: readonly TranscriptWord[] | undefined;
  /** The times are reckoned and not heard. */
  readonly hasEstimatedTimes?: boolean;
}

export interface TranscriptSegment {
  readonly start: number;
  readonly end: number;
  readonly text: string;
  readonly noSpeechProbability?: number | undefined;
}

export interface TranscriptWord {
  readonly word: string;
  readonly start: number;
  readonly end: number;
}

/**
 * Chat in the common chat-completions shape. An adaptor translates; that is all. It never retries, logs, prices, sleeps,
 * or knows the caller. It throws ApiError for what this format cannot express, before anything is sent, and
 * UpstreamError for what the upstream did.
 */
export interface ChatWork {
  complete(request: ChatRequest, upstream: Upstream): Promise<ChatAnswer>;
  /** Resolves when the upstream has accepted the request. The caller takes each chunk as it comes. */
  stream(request: ChatRequest, upstream: Upstream): Promise<ChunkStream>;
  /** How many tokens a prompt has; absent where the vendor does not count for nothing. */
  count?(request: ChatRequest, upstream: Upstream): Promise<number>;
}

/** Chunks as they come. */
export interface ReadyStream<Chunk> extends AsyncIterable<Chunk> {
  /** Hands out, without waiting, a chunk that came together with the last one. */
  ready?(): Chunk | undefined;
}

type ChunkStream = ReadyStream<ChatChunk>;

/** `body` is a whole `chat.completion`; its `id`, `model` and `usage` are replaced before it is sent on. */
export interface ChatAnswer {
  readonly body: JsonObject;
  readonly usage: TokenUsage | undefined;
}

/** `body` is a `chat.completion.chunk`, or undefined when the upstream only told its usage. */
export interface ChatChunk {
  readonly body: JsonObject | undefined;
  /** In place of the body's own `choices`, where the vendor has them as text already. */
  readonly written?: WrittenChoices;
  /** A running total, where the upstream tells one; the last counts. */
  readonly usage: TokenUsage | undefined;
}

/** `choices` as JSON, fit for the caller, and what they add to the answer. */
interface WrittenChoices {
  readonly choices: string;
  readonly content: string;
}

/** Disjoint counts, as prices are; where nothing was written to a cache, that one is absent. */
export interface TokenUsage {
  readonly inputTokens: number;
  readonly cachedTokens: number;
  readonly cacheWriteTokens?: number;
  readonly outputTokens: number;
  readonly reasoningTokens: number;
}

export type NativeAction = 'generateContent' | 'streamGenerateContent' | 'countTokens';

/** The native format's own bytes. */
export interface NativeRequest {
  readonly action: NativeAction;
  /** Exactly as the caller sent them. */
  readonly body: Buffer;
  /** Without credentials, with the caller's order and repetition; '' or 'a=1&b=2'. */
  readonly query: string;
  /** The query asks for a form of answer that may tell neither what it cost nor whether it is whole. */
  readonly hasCustomFormat: boolean;
  /** The caller's headers, where it sent them. */
  readonly contentType?: string | undefined;
  readonly accept: string | undefined;
}

/** Success bytes go to the caller untouched. */
export interface NativeWork {
  /** generateContent and countTokens. */
  call(request: NativeRequest, upstream: Upstream): Promise<NativeAnswer>;
  /** Server-sent events, frame by frame. */
  stream(request: NativeRequest, upstream: Upstream): Promise<NativeStream>;
}

export interface NativeAnswer {
  readonly contentType: string;
  readonly body: Buffer;
  readonly usage: TokenUsage | undefined;
}

interface NativeStream {
  readonly contentType: string;
  readonly frames: AsyncIterable<NativeFrame>;
}

export interface NativeFrame {
  /** The event as it came, its blank line included. */
  readonly bytes: Buffer;
  /** What stands behind `data:`. */
  readonly data: string;
  readonly usage: TokenUsage | undefined;
}
