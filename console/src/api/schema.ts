// Made by "npm run console:types" from the gateway's contracts. Read it; do not edit it.

export type Account = {
  readonly id: string;
  readonly object: 'account';
  readonly name: string;
  readonly email: string | null;
  readonly status: 'active' | 'suspended';
  readonly groups: ReadonlyArray<string>;
  /** Of all its OAuth access tokens together, and of its console. Null is the default; keys have their own. */
  readonly limits: {
    readonly rpm: number | null;
    readonly concurrency: number | null;
  };
  /** What can be spent now; below zero by what real usage exceeded. */
  readonly balance: number;
  /** What running calls and jobs hold. */
  readonly held: number;
  /** Unix seconds of the last request with any of its keys. */
  readonly last_used_at: number | null;
  /** Unix seconds. */
  readonly created_at: number;
  /** What keeps it from working as it is set; empty when nothing does. */
  readonly warnings: ReadonlyArray<string>;
};

export type ApiKey = {
  readonly id: string;
  readonly object: 'api_key';
  readonly account_id: string;
  readonly name: string;
  /** The first four characters of the random part. */
  readonly prefix: string;
  /** Unix seconds. */
  readonly created_at: number;
  readonly expires_at: number | null;
  readonly last_used_at: number | null;
  readonly disabled: boolean;
  /** Null: the groups of the account. */
  readonly groups: ReadonlyArray<string> | null;
  readonly rpm: number | null;
  readonly concurrency: number | null;
  readonly credit_limit: number | null;
  readonly credit_limit_reset: 'day' | 'week' | 'month' | null;
  /** Credits, with at most six decimals. */
  readonly credits_used: number;
};

export type ApiKeyRecord = {
  readonly id: string;
  readonly object: 'api_key';
  readonly account_id: string;
  readonly name: string;
  /** The first four characters of the random part. */
  readonly prefix: string;
  /** Unix seconds. */
  readonly created_at: number;
  readonly expires_at: number | null;
  readonly last_used_at: number | null;
  readonly disabled: boolean;
  /** Null: the groups of the account. */
  readonly groups: ReadonlyArray<string> | null;
  readonly rpm: number | null;
  readonly concurrency: number | null;
  readonly credit_limit: number | null;
  readonly credit_limit_reset: 'day' | 'week' | 'month' | null;
  /** Credits, with at most six decimals. */
  readonly credits_used: number;
  /** What counts against the limit now: spent in its period, and held; with the keys of its lineage. */
  readonly credit_limit_used: number | null;
  /** The first of the keys that replaced each other by rolling: they share limits and rates. */
  readonly lineage: string | null;
  /** What keeps it from working as it is set; empty when nothing does. */
  readonly warnings: ReadonlyArray<string>;
};

export type Asset = {
  readonly id: string;
  readonly job_id: string;
  readonly ordinal: number;
  readonly kind: 'image' | 'video' | 'audio' | 'thumbnail';
  /** What holds it: a bucket, or a folder of the gateway. */
  readonly storage: 's3' | 'disk';
  readonly mime_type: string;
  readonly bytes: number;
  readonly width?: number;
  readonly height?: number;
  readonly seconds?: number;
  /** Works for 15 minutes, without a credential. */
  readonly url: string;
  /** Unix seconds. */
  readonly expires_at: number;
  /** Unix seconds. */
  readonly created_at: number;
};

export type AuditEntry = {
  readonly id: string;
  readonly object: 'audit_entry';
  /** Unix seconds. */
  readonly at: number;
  readonly actor: string;
  readonly action: string;
  readonly target: string;
  readonly detail: Readonly<Record<string, unknown>>;
  readonly request_id: string | null;
};

export type Books = {
  readonly object: 'books';
  readonly balanced: boolean;
  readonly accounts: number;
  readonly entries: number;
  /** How many were read: those since the last check, or all. */
  readonly entries_checked: number;
  /** The first that was found. */
  readonly difference?: Readonly<Record<string, unknown>>;
};

export type Breaker = {
  /** Open: no request but probes. Half-open: the next is one. */
  readonly state: 'closed' | 'open' | 'half_open';
  /** Requests in a row that failed. */
  readonly strikes: number;
  readonly next_probe_at: number | null;
  readonly last_fault: string | null;
  /** The upstream’s own words, without secrets. */
  readonly last_detail: string | null;
  readonly last_fault_at: number | null;
};

export type CatalogueModel = {
  readonly id: string;
  readonly object: 'model';
  /** Unix seconds. */
  readonly created: number;
  readonly owned_by: string;
  readonly modality: 'image' | 'video' | 'chat' | 'audio';
  readonly display_name: string;
  readonly description: string;
  readonly tags: ReadonlyArray<string>;
  readonly endpoints: ReadonlyArray<'images' | 'image_edits' | 'videos' | 'chat' | 'native' | 'audio_speech' | 'transcriptions' | 'audio_music' | 'embeddings'>;
  readonly pricing: {
    readonly mode: 'per_image' | 'per_request' | 'per_second' | 'per_token' | 'per_k_char' | 'per_audio_second';
    readonly currency: 'usd';
    readonly credits: {
      readonly base?: number;
      readonly per_second?: number;
      readonly input_per_k?: number;
      readonly output_per_k?: number;
      readonly cached_per_k?: number;
      readonly cache_write_per_k?: number;
      readonly reasoning_per_k?: number;
    };
    readonly size_ratio?: Readonly<Record<string, number>>;
    readonly quality_ratio?: Readonly<Record<string, number>>;
    readonly resolution_ratio?: Readonly<Record<string, number>>;
    readonly flag_ratio?: {
      readonly generate_audio?: number;
      readonly reference_video?: number;
    };
    readonly token_tiers?: ReadonlyArray<{
      readonly min_prompt_tokens: number;
      readonly input_per_k?: number;
      readonly output_per_k?: number;
      readonly cached_per_k?: number;
      readonly cache_write_per_k?: number;
      readonly reasoning_per_k?: number;
    }>;
    readonly unit: string;
  };
  /** As clients of the Messages format read a model. */
  readonly type: 'model';
  /** The same time as `created`. */
  readonly created_at: string;
  readonly context_tokens: number | null;
  readonly max_output_tokens: number | null;
  /** What at least one enabled upstream takes. */
  readonly accepts: {
    /** Media fields, and `generate_audio`. */
    readonly slots: ReadonlyArray<string>;
    readonly sizes: ReadonlyArray<string>;
    readonly resolutions: ReadonlyArray<string>;
    readonly aspect_ratios: ReadonlyArray<string>;
    /** Null: any word goes to the model as it is. */
    readonly qualities: ReadonlyArray<string> | null;
    readonly n_max: number | null;
    readonly seconds_max: number | null;
    readonly formats: ReadonlyArray<string> | null;
    readonly voice_sample: 'required' | 'optional';
    readonly voice_design: boolean;
  };
};

export type ChatCompletion = {
  readonly id: string;
  readonly object: 'chat.completion';
  readonly created: number;
  readonly model: string;
  readonly choices: ReadonlyArray<Readonly<Record<string, unknown>>>;
  readonly usage: {
    readonly prompt_tokens: number;
    readonly completion_tokens: number;
    readonly total_tokens: number;
    /** What the call cost. */
    readonly credits: number;
  };
};

export type ConfigCheck = {
  readonly object: 'config_check';
  readonly valid: boolean;
  readonly problems: ReadonlyArray<{
    /** Such as `models[2].pricing.credits.base`; empty for the document as a whole. */
    readonly path: string;
    readonly problem: string;
    readonly line: number | null;
    readonly column: number | null;
  }>;
  /** What applying it would change, one line each. */
  readonly changes: ReadonlyArray<string>;
  /** What is lawful and probably not meant; empty when nothing is. */
  readonly warnings: ReadonlyArray<string>;
};

export type ConfigEstimate = {
  readonly object: 'config_estimate';
  readonly data: ReadonlyArray<{
    readonly model: string;
    readonly endpoint: 'images' | 'image_edits' | 'videos' | 'chat' | 'native' | 'audio_speech' | 'transcriptions' | 'audio_music' | 'embeddings';
    /** The call in words. */
    readonly call: string;
    /** By the configuration in force; null where there is no such price. */
    readonly credits_now: number | null;
    /** By the document. */
    readonly credits_then: number | null;
    /** By how much it becomes dearer. */
    readonly change: number | null;
    /** Why there is no price, now or then. */
    readonly problems: ReadonlyArray<string>;
  }>;
  readonly has_more: boolean;
};

export type ConfigVersion = {
  readonly object: 'config_version';
  readonly version: number;
  readonly source: 'file' | 'built-in' | 'operator';
  readonly applied_at: number;
  /** As the audit names it. */
  readonly actor: string;
  /** Lines of a comparison with the version before it. */
  readonly change_count: number;
  readonly document: {
    readonly upstreams: ReadonlyArray<Readonly<Record<string, unknown>>>;
    readonly models: ReadonlyArray<Readonly<Record<string, unknown>>>;
  };
};

export type ConfigVersionSummary = {
  readonly object: 'config_version';
  readonly version: number;
  readonly source: 'file' | 'built-in' | 'operator';
  readonly applied_at: number;
  /** As the audit names it. */
  readonly actor: string;
  /** Lines of a comparison with the version before it. */
  readonly change_count: number;
};

export type ConsoleAccount = {
  readonly id: string;
  readonly object: 'account';
  readonly name: string;
  readonly status: 'active' | 'suspended';
  /** Its routing groups, from which a key may be given some. */
  readonly groups: ReadonlyArray<string>;
  /** In force for its console and its OAuth access tokens together, and the most that its keys are given there. */
  readonly limits: {
    readonly rpm: number;
    readonly concurrency: number;
  };
};

export type CreditBalance = {
  readonly object: 'credit_balance';
  /** What can be spent now; below zero by what real usage exceeded. */
  readonly available: number;
  /** What running calls and jobs hold. */
  readonly reserved: number;
  readonly spent: number;
  readonly updated_at: number;
};

export type Embeddings = {
  readonly object: 'list';
  readonly data: ReadonlyArray<{
    readonly object: 'embedding';
    /** Of the input. */
    readonly index: number;
    /** Numbers, or where `encoding_format` is base64 their bytes as float32, small end first. */
    readonly embedding: ReadonlyArray<number> | string;
  }>;
  readonly model: string;
  readonly usage: {
    readonly prompt_tokens: number;
    readonly total_tokens: number;
    /** Counted here, because the upstream told nothing. */
    readonly estimated?: true;
    /** What the call cost. */
    readonly credits: number;
  };
};

export type Error = {
  readonly error: {
    readonly message: string;
    readonly type: string;
    readonly code: string;
    /** The field at fault, where one is known. */
    readonly param: string | null;
  };
};

export type Estimate = {
  readonly object: 'estimate';
  readonly model: string;
  readonly endpoint: 'images' | 'image_edits' | 'videos' | 'chat' | 'native' | 'audio_speech' | 'transcriptions' | 'audio_music' | 'embeddings' | 'responses' | 'messages';
  /** What the call would reserve. */
  readonly credits: number;
  readonly factors: {
    readonly mode: string;
    /** Credits charged once, which no ratio multiplies. */
    readonly once: number;
    readonly units: ReadonlyArray<{
      readonly unit: string;
      readonly count: number;
      readonly per: number;
      readonly rate: number;
    }>;
    readonly ratios: ReadonlyArray<{
      readonly map: string;
      readonly key: string;
      readonly ratio: number;
    }>;
  };
};

export type ExpiredTranscriptionRecord = {
  readonly id: string;
  readonly object: 'audio.transcription';
  readonly model: string;
  readonly settlement_state: 'pending' | 'unknown' | 'settled' | 'released';
  /** Unix seconds. */
  readonly created_at: number;
  /** Unix seconds. */
  readonly completed_at?: number;
  /** Absent where results are kept for ever. */
  readonly expires_at?: number;
  readonly status: 'expired';
  readonly error: {
    readonly message: string;
    readonly type: string;
    readonly code: string;
    /** The field at fault, where one is known. */
    readonly param: string | null;
  };
};

export type FacadeFile = {
  readonly id: string;
  readonly object: 'file';
  readonly bytes: number;
  readonly created_at: number;
  readonly expires_at: number;
  readonly filename: string;
  readonly purpose: string;
  readonly status: 'processed';
  readonly mime_type: string;
  /** Works until the file expires, without a credential. */
  readonly url: string;
};

export type File = {
  readonly id: string;
  readonly object: 'file';
  readonly bytes: number;
  readonly filename: string;
  readonly mime_type: string;
  readonly purpose: string | null;
  /** Works for 24 hours, without a credential, and wherever a URL of media is taken. */
  readonly url: string;
  readonly created_at: number;
  readonly expires_at: number;
};

export type Grant = {
  readonly id: string;
  readonly object: 'grant';
  readonly account_id: string;
  /** Below zero: so much was taken back. */
  readonly amount: number;
  /** Credits, with at most six decimals. */
  readonly remaining: number;
  readonly source: string;
  readonly reference: string | null;
  /** Unix seconds. */
  readonly created_at: number;
  readonly expires_at: number | null;
};

export type Health = {
  readonly status: 'ok' | 'degraded';
  readonly version: string;
  readonly db: 'ok' | 'unavailable';
  readonly outbox_pending: number;
  readonly cleanup_running: boolean;
  readonly cleanup_pending: number;
  readonly cleanup_oldest_due_age_s: number;
  /** Conditions that an operator should know of. */
  readonly warnings: ReadonlyArray<string>;
};

export type Invitation = {
  readonly id: string;
  readonly object: 'invitation';
  readonly email: string;
  readonly role: 'viewer' | 'member' | 'owner' | null;
  readonly invited_by: string;
  readonly created_at: number;
  readonly expires_at: number;
};

export type Job = {
  readonly id: string;
  readonly object: 'job';
  readonly status: 'queued' | 'running' | 'succeeded' | 'failed' | 'queue_expired' | 'canceled';
  readonly kind: 'image' | 'video' | 'audio';
  readonly model: string;
  readonly progress: number;
  /** Unix seconds. */
  readonly created_at: number;
  /** Unix seconds. */
  readonly updated_at?: number;
  /** Unix seconds. */
  readonly finished_at?: number;
  /** Unix seconds. */
  readonly dispatch_deadline_at: number;
  readonly error_code?: string;
  readonly error?: string;
  /** What it cost, once it has ended. */
  readonly usage?: {
    readonly credits: number;
  };
};

export type JobRecord = {
  readonly id: string;
  readonly object: 'job';
  readonly status: 'queued' | 'running' | 'succeeded' | 'failed' | 'queue_expired' | 'canceled';
  readonly kind: 'image' | 'video' | 'audio';
  readonly model: string;
  readonly progress: number;
  /** Unix seconds. */
  readonly created_at: number;
  /** Unix seconds. */
  readonly updated_at?: number;
  /** Unix seconds. */
  readonly finished_at?: number;
  /** Unix seconds. */
  readonly dispatch_deadline_at: number;
  readonly error_code?: string;
  readonly error?: string;
  /** What it cost, once it has ended. */
  readonly usage?: {
    readonly credits: number;
  };
  readonly account_id: string;
  readonly key_id: string | null;
  readonly endpoint: string;
  readonly request_id: string;
  /** Which upstreams were asked, in order. */
  readonly attempts: ReadonlyArray<{
    readonly upstream: string;
    /** As the upstream calls it. */
    readonly model: string;
    readonly state: string;
    readonly error_code: string | null;
  }>;
};

export type JobRequest = {
  readonly object: 'job_request';
  readonly job_id: string;
  readonly endpoint: 'images' | 'image_edits' | 'videos' | 'chat' | 'native' | 'audio_speech' | 'transcriptions' | 'audio_music' | 'embeddings';
  /** Where the body is to be posted to. */
  readonly path: string;
  /** As it was asked, with the `url` of each input in the place of media. Inputs without one are not in it. */
  readonly body: Readonly<Record<string, unknown>>;
  readonly inputs: ReadonlyArray<{
    /** Where it stands in the body, such as `reference_images[1]`. */
    readonly field: string;
    readonly mime_type: string;
    readonly bytes: number;
    /** To look at it, for 15 minutes; null when it is not stored any more. What came with a request goes with its end. */
    readonly link: string | null;
    /** What a new request may name: a link to a file of the account, or the address that it was fetched from. */
    readonly url: string | null;
    readonly kept_until: number | null;
  }>;
  /** Whether every input has a `url`; otherwise it must be sent anew. */
  readonly can_run_again: boolean;
  readonly timeline: {
    /** Unix seconds. */
    readonly created_at: number;
    /** When it expires unless an upstream has accepted it. */
    readonly dispatch_deadline_at: number;
    readonly accepted_at: number | null;
    readonly finished_at: number | null;
  };
};

export type LedgerExport = {
  /** The day, of the UTC calendar: `2026-11-17`. */
  readonly id: string;
  readonly object: 'ledger_export';
  /** How many entries the file has. */
  readonly entries: number;
  readonly bytes: number;
  /** Of the file, in hexadecimal. */
  readonly sha256: string;
  /** Unix seconds. */
  readonly exported_at: number;
};

export type ListedTranscription = {
  readonly id: string;
  readonly object: 'audio.transcription';
  readonly model: string;
  readonly settlement_state: 'pending' | 'unknown' | 'settled' | 'released';
  /** Unix seconds. */
  readonly created_at: number;
  /** Unix seconds. */
  readonly completed_at?: number;
  /** Absent where results are kept for ever. */
  readonly expires_at?: number;
  readonly status: 'pending' | 'processing' | 'completed' | 'failed' | 'unavailable' | 'expired';
  /** How long the clip is. */
  readonly seconds: number;
  /** What it cost, once it has ended. */
  readonly usage?: {
    readonly credits: number;
  };
  /** Why there is no result. */
  readonly error?: {
    readonly message: string;
    readonly type: string;
    readonly code: string;
    /** The field at fault, where one is known. */
    readonly param: string | null;
  };
};

export type Liveness = {
  readonly status: 'ok';
};

export type LoggedRequest = {
  /** Unique, unlike the id that a caller may have given its request. */
  readonly id: string;
  readonly object: 'request';
  readonly request_id: string;
  readonly account_id: string;
  /** A key or an app’s grant; null in the console. */
  readonly key_id: string | null;
  /** Of the key, or of the app. */
  readonly key_name: string | null;
  /** Who ran it in the console. */
  readonly person_id: string | null;
  readonly job_id: string | null;
  /** As it was asked for. */
  readonly model: string | null;
  readonly endpoint: string;
  /** The HTTP status of the answer. */
  readonly status: number;
  /** Null where nothing was held. */
  readonly state: 'running' | 'settled' | 'refunded' | null;
  /** Of the answer, or of the job that came of it. */
  readonly error_code: string | null;
  readonly duration_ms: number;
  readonly streamed: boolean;
  /** Refusals by scope or rate are one row per key, route, code and minute. */
  readonly requests: number;
  /** What it holds now. */
  readonly held: number;
  /** What was charged. */
  readonly credits: number;
  /** Unix seconds. */
  readonly created_at: number;
};

export type LoggedRequestDetail = {
  /** Unique, unlike the id that a caller may have given its request. */
  readonly id: string;
  readonly object: 'request';
  readonly request_id: string;
  readonly account_id: string;
  /** A key or an app’s grant; null in the console. */
  readonly key_id: string | null;
  /** Of the key, or of the app. */
  readonly key_name: string | null;
  /** Who ran it in the console. */
  readonly person_id: string | null;
  readonly job_id: string | null;
  /** As it was asked for. */
  readonly model: string | null;
  readonly endpoint: string;
  /** The HTTP status of the answer. */
  readonly status: number;
  /** Null where nothing was held. */
  readonly state: 'running' | 'settled' | 'refunded' | null;
  /** Of the answer, or of the job that came of it. */
  readonly error_code: string | null;
  readonly duration_ms: number;
  readonly streamed: boolean;
  /** Refusals by scope or rate are one row per key, route, code and minute. */
  readonly requests: number;
  /** What it holds now. */
  readonly held: number;
  /** What was charged. */
  readonly credits: number;
  /** Unix seconds. */
  readonly created_at: number;
  /** Null where nothing was held. */
  readonly receipt: {
    /** (sum of count / per × rate) × every ratio + once = charged. Null where no units were counted. */
    readonly factors: {
      readonly mode: string;
      /** Credits charged once, which no ratio multiplies. */
      readonly once: number;
      readonly units: ReadonlyArray<{
        readonly unit: string;
        readonly count: number;
        readonly per: number;
        readonly rate: number;
      }>;
      readonly ratios: ReadonlyArray<{
        readonly map: string;
        readonly key: string;
        readonly ratio: number;
      }>;
    } | null;
    /** What was set aside at the beginning. */
    readonly held: number;
    readonly charged: number;
    /** How much of what was held came back. */
    readonly returned: number;
    /** The ledger’s entries, oldest first. */
    readonly entries: ReadonlyArray<Transaction>;
  } | null;
};

export type McpMessage = {
  readonly jsonrpc: '2.0';
  readonly id?: string | number | null;
  readonly method?: string;
  readonly params?: Readonly<Record<string, unknown>>;
};

export type Member = {
  readonly id: string;
  readonly object: 'member';
  readonly email: string;
  readonly name: string;
  readonly role: 'viewer' | 'member' | 'owner';
  readonly last_sign_in_at: number | null;
};

export type Message = {
  readonly id: string;
  readonly type: 'message';
  readonly role: 'assistant';
  readonly model: string;
  readonly content: ReadonlyArray<{
    readonly type: string;
  }>;
  readonly stop_reason: string | null;
  readonly stop_sequence: string | null;
  readonly usage: {
    readonly input_tokens: number;
    readonly cache_creation_input_tokens: number | null;
    readonly cache_read_input_tokens: number | null;
    readonly output_tokens: number;
    /** What the call cost. */
    readonly credits: number;
  };
};

export type MessagesCount = {
  readonly input_tokens: number;
};

export type MessagesError = {
  readonly type: 'error';
  readonly error: {
    readonly type: string;
    readonly message: string;
    readonly code: string;
    readonly param: string | null;
  };
  readonly request_id: string;
};

export type Model = {
  readonly id: string;
  readonly object: 'model';
  /** Unix seconds. */
  readonly created: number;
  readonly owned_by: string;
  readonly modality: 'image' | 'video' | 'chat' | 'audio';
  readonly display_name: string;
  readonly description: string;
  readonly tags: ReadonlyArray<string>;
  readonly endpoints: ReadonlyArray<'images' | 'image_edits' | 'videos' | 'chat' | 'native' | 'audio_speech' | 'transcriptions' | 'audio_music' | 'embeddings'>;
  readonly pricing: Pricing;
  /** As clients of the Messages format read a model. */
  readonly type: 'model';
  /** The same time as `created`. */
  readonly created_at: string;
};

export type NewApiKey = {
  readonly id: string;
  readonly object: 'api_key';
  readonly account_id: string;
  readonly name: string;
  /** The first four characters of the random part. */
  readonly prefix: string;
  /** Unix seconds. */
  readonly created_at: number;
  readonly expires_at: number | null;
  readonly last_used_at: number | null;
  readonly disabled: boolean;
  /** Null: the groups of the account. */
  readonly groups: ReadonlyArray<string> | null;
  readonly rpm: number | null;
  readonly concurrency: number | null;
  readonly credit_limit: number | null;
  readonly credit_limit_reset: 'day' | 'week' | 'month' | null;
  /** Credits, with at most six decimals. */
  readonly credits_used: number;
  /** What counts against the limit now: spent in its period, and held; with the keys of its lineage. */
  readonly credit_limit_used: number | null;
  /** The first of the keys that replaced each other by rolling: they share limits and rates. */
  readonly lineage: string | null;
  /** What keeps it from working as it is set; empty when nothing does. */
  readonly warnings: ReadonlyArray<string>;
  /** The key itself, shown this once. */
  readonly key: string;
};

export type NewOauthClient = {
  readonly id: string;
  readonly object: 'oauth_client';
  readonly name: string;
  readonly redirect_uris: ReadonlyArray<string>;
  readonly scopes: ReadonlyArray<'user:inference:image' | 'user:inference:video' | 'user:inference:audio' | 'user:inference:chat' | 'user:jobs' | 'user:files' | 'user:credits'>;
  readonly confidential: boolean;
  readonly home_page: string | null;
  readonly logo: string | null;
  readonly device_flow: boolean;
  readonly introspection: boolean;
  readonly created_at: number;
  readonly client_secret?: string;
};

export type OauthClient = {
  readonly id: string;
  readonly object: 'oauth_client';
  readonly name: string;
  readonly redirect_uris: ReadonlyArray<string>;
  readonly scopes: ReadonlyArray<'user:inference:image' | 'user:inference:video' | 'user:inference:audio' | 'user:inference:chat' | 'user:jobs' | 'user:files' | 'user:credits'>;
  readonly confidential: boolean;
  readonly home_page: string | null;
  readonly logo: string | null;
  readonly device_flow: boolean;
  readonly introspection: boolean;
  readonly created_at: number;
};

export type OauthGrant = {
  readonly id: string;
  readonly object: 'oauth_grant';
  readonly client: {
    readonly id: string;
    readonly name: string;
    readonly home_page: string | null;
  };
  readonly account: string;
  readonly person: {
    readonly id: string;
    readonly email: string;
  };
  readonly scopes: ReadonlyArray<string>;
  readonly credit_limit: number | null;
  readonly credit_limit_reset: 'day' | 'week' | 'month' | null;
  readonly credits_used: number;
  /** What counts against the limit now: spent in its period, and held. */
  readonly credit_limit_used: number | null;
  readonly created_at: number;
  readonly updated_at: number;
  readonly last_used_at: number | null;
};

export type OneTimeLink = {
  readonly object: 'link';
  /** Works once, for whoever holds it. */
  readonly url: string;
  /** Unix seconds. */
  readonly expires_at: number;
  readonly id?: string;
  readonly email?: string;
  readonly role?: 'viewer' | 'member' | 'owner' | null;
  readonly operator_role?: 'auditor' | 'operator' | null;
};

export type OpenTranscriptionRecord = {
  readonly id: string;
  readonly object: 'audio.transcription';
  readonly model: string;
  readonly settlement_state: 'pending' | 'unknown' | 'settled' | 'released';
  /** Unix seconds. */
  readonly created_at: number;
  /** Unix seconds. */
  readonly completed_at?: number;
  /** Absent where results are kept for ever. */
  readonly expires_at?: number;
  readonly status: 'pending' | 'processing';
};

export type Overview = {
  readonly object: 'overview';
  /** Unix seconds; midnight UTC unless another time was asked for. */
  readonly since: number;
  /** Requests for work since then, refused ones included; neither estimates nor uploads. */
  readonly requests: number;
  /** Of these, how many were refused or failed, or became a job that failed. */
  readonly errors: number;
  readonly credits_charged: number;
  /** By what is running now. */
  readonly credits_held: number;
  /** What was charged for requests whose route states its `cost`, less that cost; null where none does. */
  readonly margin: number | null;
  /** Open ones. */
  readonly jobs: ReadonlyArray<{
    readonly kind: string;
    readonly status: string;
    readonly count: number;
  }>;
  /** Null when none is queued. */
  readonly oldest_queued_job_age_s: number | null;
  /** Under way. */
  readonly transcriptions: number;
  /** Null for an upstream as a whole. */
  readonly open_breakers: ReadonlyArray<{
    readonly upstream_id: string;
    readonly model: string | null;
  }>;
  readonly models_without_candidate: ReadonlyArray<string>;
  /** The last check; null before the first. */
  readonly books: {
    readonly checked_at: number;
    readonly balanced: boolean;
  } | null;
  readonly accounts: {
    readonly total: number;
    readonly suspended: number;
  };
  /** Without it there is no answer but `precheck_failed`. */
  readonly database: 'ok';
  readonly storage: 'ok' | 'unavailable';
};

export type Person = {
  readonly id: string;
  readonly object: 'person';
  readonly email: string;
  readonly name: string;
  readonly operator_role: 'auditor' | 'operator' | null;
  readonly disabled: boolean;
  /** Unix seconds. */
  readonly created_at: number;
  readonly last_sign_in_at: number | null;
};

export type Pictures = {
  readonly created: number;
  readonly data: ReadonlyArray<{
    readonly b64_json?: string;
    readonly url?: string;
  }>;
  readonly size?: string;
  readonly quality?: string;
  readonly background?: string;
  readonly output_format?: string;
  readonly usage: {
    readonly input_tokens: number;
    readonly output_tokens: number;
    readonly total_tokens: number;
    readonly input_tokens_details: {
      readonly text_tokens: number;
      readonly image_tokens: number;
    };
    /** What the pictures cost. Tokens are not counted. */
    readonly credits: number;
  };
  /** The job that made them, at `/v1/jobs`. */
  readonly job_id: string;
};

export type Pricing = {
  readonly mode: 'per_image' | 'per_request' | 'per_second' | 'per_token' | 'per_k_char' | 'per_audio_second';
  readonly currency: 'usd';
  readonly credits: {
    readonly base?: number;
    readonly per_second?: number;
    readonly input_per_k?: number;
    readonly output_per_k?: number;
    readonly cached_per_k?: number;
    readonly cache_write_per_k?: number;
    readonly reasoning_per_k?: number;
  };
  readonly size_ratio?: Readonly<Record<string, number>>;
  readonly quality_ratio?: Readonly<Record<string, number>>;
  readonly resolution_ratio?: Readonly<Record<string, number>>;
  readonly flag_ratio?: {
    readonly generate_audio?: number;
    readonly reference_video?: number;
  };
  readonly token_tiers?: ReadonlyArray<{
    readonly min_prompt_tokens: number;
    readonly input_per_k?: number;
    readonly output_per_k?: number;
    readonly cached_per_k?: number;
    readonly cache_write_per_k?: number;
    readonly reasoning_per_k?: number;
  }>;
};

export type PublicList = {
  readonly object: 'list';
  readonly count: number;
  readonly modalities: Readonly<Record<string, number>>;
  /** Unix seconds. */
  readonly updated_at: number;
  readonly data: ReadonlyArray<{
    readonly name: string;
    readonly modality: 'image' | 'video' | 'chat' | 'audio';
    readonly endpoints: ReadonlyArray<'images' | 'image_edits' | 'videos' | 'chat' | 'native' | 'audio_speech' | 'transcriptions' | 'audio_music' | 'embeddings'>;
    readonly pricing: PublicPricing;
  }>;
};

export type PublicPricing = {
  readonly mode: 'per_image' | 'per_request' | 'per_second' | 'per_token' | 'per_k_char' | 'per_audio_second';
  readonly currency: 'usd';
  readonly credits: {
    readonly base?: number;
    readonly per_second?: number;
    readonly input_per_k?: number;
    readonly output_per_k?: number;
    readonly cached_per_k?: number;
    readonly cache_write_per_k?: number;
    readonly reasoning_per_k?: number;
  };
  readonly size_ratio?: Readonly<Record<string, number>>;
  readonly quality_ratio?: Readonly<Record<string, number>>;
  readonly resolution_ratio?: Readonly<Record<string, number>>;
  readonly flag_ratio?: {
    readonly generate_audio?: number;
    readonly reference_video?: number;
  };
  readonly token_tiers?: ReadonlyArray<{
    readonly min_prompt_tokens: number;
    readonly input_per_k?: number;
    readonly output_per_k?: number;
    readonly cached_per_k?: number;
    readonly cache_write_per_k?: number;
    readonly reasoning_per_k?: number;
  }>;
  readonly unit: string;
};

export type Readiness = {
  readonly status: 'ok' | 'unready';
  /** Whether it answers and takes writes. */
  readonly database: 'ok' | 'unavailable';
  /** Whether every migration of this release is applied. */
  readonly schema: 'ok' | 'wrong' | 'unknown';
  readonly configuration: 'ok' | 'missing';
  readonly stopping: boolean;
};

export type Request = {
  readonly id: string;
  readonly object: 'request';
  readonly status: 'running' | 'settled' | 'refunded';
  readonly model: string;
  readonly endpoint: string;
  /** The units that were charged. */
  readonly usage: Readonly<Record<string, unknown>> | null;
  readonly credits: number;
  readonly created_at: number;
};

export type RequestRecord = {
  /** Unique, unlike the id that a caller may have given its request. */
  readonly id: string;
  readonly object: 'request';
  readonly request_id: string;
  readonly account_id: string;
  /** A key or an app’s grant; null in the console. */
  readonly key_id: string | null;
  /** Of the key, or of the app. */
  readonly key_name: string | null;
  /** Who ran it in the console. */
  readonly person_id: string | null;
  readonly job_id: string | null;
  /** As it was asked for. */
  readonly model: string | null;
  readonly endpoint: string;
  /** The HTTP status of the answer. */
  readonly status: number;
  /** Null where nothing was held. */
  readonly state: 'running' | 'settled' | 'refunded' | null;
  /** Of the answer, or of the job that came of it. */
  readonly error_code: string | null;
  readonly duration_ms: number;
  readonly streamed: boolean;
  /** Refusals by scope or rate are one row per key, route, code and minute. */
  readonly requests: number;
  /** What it holds now. */
  readonly held: number;
  /** What was charged. */
  readonly credits: number;
  /** Unix seconds. */
  readonly created_at: number;
  /** The upstream that was asked last. */
  readonly upstream: string | null;
  /** What it cost, in credits; null where its route states no cost. */
  readonly cost: number | null;
};

export type RequestRecordDetail = {
  /** Unique, unlike the id that a caller may have given its request. */
  readonly id: string;
  readonly object: 'request';
  readonly request_id: string;
  readonly account_id: string;
  /** A key or an app’s grant; null in the console. */
  readonly key_id: string | null;
  /** Of the key, or of the app. */
  readonly key_name: string | null;
  /** Who ran it in the console. */
  readonly person_id: string | null;
  readonly job_id: string | null;
  /** As it was asked for. */
  readonly model: string | null;
  readonly endpoint: string;
  /** The HTTP status of the answer. */
  readonly status: number;
  /** Null where nothing was held. */
  readonly state: 'running' | 'settled' | 'refunded' | null;
  /** Of the answer, or of the job that came of it. */
  readonly error_code: string | null;
  readonly duration_ms: number;
  readonly streamed: boolean;
  /** Refusals by scope or rate are one row per key, route, code and minute. */
  readonly requests: number;
  /** What it holds now. */
  readonly held: number;
  /** What was charged. */
  readonly credits: number;
  /** Unix seconds. */
  readonly created_at: number;
  /** The upstream that was asked last. */
  readonly upstream: string | null;
  /** What it cost, in credits; null where its route states no cost. */
  readonly cost: number | null;
  /** Null where nothing was held. */
  readonly receipt: {
    /** (sum of count / per × rate) × every ratio + once = charged. Null where no units were counted. */
    readonly factors: {
      readonly mode: string;
      /** Credits charged once, which no ratio multiplies. */
      readonly once: number;
      readonly units: ReadonlyArray<{
        readonly unit: string;
        readonly count: number;
        readonly per: number;
        readonly rate: number;
      }>;
      readonly ratios: ReadonlyArray<{
        readonly map: string;
        readonly key: string;
        readonly ratio: number;
      }>;
    } | null;
    /** What was set aside at the beginning. */
    readonly held: number;
    readonly charged: number;
    /** How much of what was held came back. */
    readonly returned: number;
    /** The ledger’s entries, oldest first. */
    readonly entries: ReadonlyArray<Transaction>;
  } | null;
};

export type Response = {
  readonly id: string;
  readonly object: 'response';
  readonly created_at: number;
  readonly status: 'completed' | 'incomplete' | 'failed' | 'in_progress';
  readonly model: string;
  readonly output: ReadonlyArray<{
    readonly id: string;
    readonly type: string;
  }>;
  readonly usage: {
    readonly input_tokens: number;
    readonly output_tokens: number;
    readonly total_tokens: number;
    /** What the call cost. */
    readonly credits: number;
  };
};

export type RolledApiKey = {
  readonly id: string;
  readonly object: 'api_key';
  readonly account_id: string;
  readonly name: string;
  /** The first four characters of the random part. */
  readonly prefix: string;
  /** Unix seconds. */
  readonly created_at: number;
  readonly expires_at: number | null;
  readonly last_used_at: number | null;
  readonly disabled: boolean;
  /** Null: the groups of the account. */
  readonly groups: ReadonlyArray<string> | null;
  readonly rpm: number | null;
  readonly concurrency: number | null;
  readonly credit_limit: number | null;
  readonly credit_limit_reset: 'day' | 'week' | 'month' | null;
  /** Credits, with at most six decimals. */
  readonly credits_used: number;
  /** What counts against the limit now: spent in its period, and held; with the keys of its lineage. */
  readonly credit_limit_used: number | null;
  /** The first of the keys that replaced each other by rolling: they share limits and rates. */
  readonly lineage: string | null;
  /** What keeps it from working as it is set; empty when nothing does. */
  readonly warnings: ReadonlyArray<string>;
  /** The key itself, shown this once. */
  readonly key: string;
  /** The old key, and the Unix second at which it ends. */
  readonly replaces: {
    readonly id: string;
    readonly expires_at: number | null;
  };
};

export type Session = {
  readonly id: string;
  readonly object: 'session';
  readonly method: 'password' | 'link' | 'identity_provider';
  readonly address: string;
  readonly user_agent: string;
  readonly created_at: number;
  readonly last_seen_at: number;
  readonly expires_at: number;
  readonly current: boolean;
};

export type SignedIn = {
  readonly object: 'signed_in';
  readonly person: Person;
  readonly accounts: ReadonlyArray<{
    readonly account_id: string;
    readonly name: string;
    readonly role: 'viewer' | 'member' | 'owner';
  }>;
  /** The one that the session works in. */
  readonly account: {
    readonly account_id: string;
    readonly name: string;
    readonly role: 'viewer' | 'member' | 'owner';
  } | null;
  /** To be sent as X-CSRF-Token with every request that changes something. */
  readonly csrf_token: string;
  readonly session_id: string;
  /** Unix seconds. */
  readonly expires_at: number;
  /** Under which the API is reached, for samples of code. */
  readonly base_url: string;
  readonly sign_up: 'closed' | 'invite' | 'open';
  readonly version: string;
};

export type Site = {
  readonly object: 'site';
  readonly name: string;
  /** Under which the API is reached, without a slash at its end. */
  readonly base_url: string;
  readonly version: string;
  /** By operators alone, by invitation, or without one. */
  readonly sign_up: 'closed' | 'invite' | 'open';
  /** Where people also sign in, and the page that leads there. */
  readonly identity_provider: {
    readonly name: string;
    readonly url: string;
  } | null;
  readonly links: {
    readonly openapi: string;
    readonly price_list: string;
    readonly sign_in: string;
    readonly sign_up: string;
  };
};

export type Speech = {
  readonly object: 'audio.speech';
  /** Unix seconds. */
  readonly created: number;
  readonly model: string;
  readonly format: string;
  readonly mime_type: string;
  readonly b64_json?: string;
  /** Works for 15 minutes, without a credential. */
  readonly url?: string;
  readonly seconds: number;
  /** Every clip, where more than one was asked for. */
  readonly data?: ReadonlyArray<{
    readonly format: string;
    readonly mime_type: string;
    readonly b64_json?: string;
    /** Works for 15 minutes, without a credential. */
    readonly url?: string;
    readonly seconds: number;
  }>;
  readonly usage: {
    readonly characters: number;
    readonly audio_seconds: number;
    /** What the call cost. */
    readonly credits: number;
  };
};

export type Transaction = {
  readonly id: string;
  readonly object: 'transaction';
  readonly type: 'grant' | 'revoke' | 'reserve' | 'settle' | 'refund' | 'charge' | 'cover' | 'lapse';
  /** By how much the available balance changed. */
  readonly amount: number;
  /** How much was spent for good. */
  readonly charged: number;
  /** What was available afterwards. */
  readonly balance: number;
  readonly key_id: string | null;
  readonly request_id: string | null;
  readonly job_id: string | null;
  readonly model: string | null;
  /** Unix seconds. */
  readonly created_at: number;
};

export type Transcription = {
  readonly task?: 'transcribe' | 'translate';
  /** An ISO code: as heard, else as given; null where neither is known. */
  readonly language?: string | null;
  readonly duration?: number;
  readonly text: string;
  readonly segments?: ReadonlyArray<{
    readonly id: number;
    readonly seek: number;
    /** Seconds from the beginning. */
    readonly start: number;
    /** Seconds from the beginning. */
    readonly end: number;
    readonly text: string;
    readonly tokens: ReadonlyArray<number>;
    readonly temperature: number;
    readonly avg_logprob: number;
    readonly compression_ratio: number;
    readonly no_speech_prob: number;
  }>;
  readonly words?: ReadonlyArray<{
    readonly word: string;
    /** Seconds from the beginning. */
    readonly start: number;
    /** Seconds from the beginning. */
    readonly end: number;
  }>;
  /** The times are reckoned from the text, not heard. */
  readonly estimated_times?: true;
  readonly usage: {
    readonly type: 'duration';
    readonly seconds: number;
    /** The same as `seconds`. */
    readonly audio_seconds: number;
    readonly credits: number;
  };
};

export type TranscriptionRecord = {
  readonly id: string;
  readonly object: 'audio.transcription';
  readonly model: string;
  readonly settlement_state: 'pending' | 'unknown' | 'settled' | 'released';
  /** Unix seconds. */
  readonly created_at: number;
  /** Unix seconds. */
  readonly completed_at?: number;
  /** Absent where results are kept for ever. */
  readonly expires_at?: number;
  readonly status: 'completed' | 'failed' | 'unavailable';
  readonly result?: {
    readonly text: string;
    /** An ISO code: as heard, else as given; null where neither is known. */
    readonly language: string | null;
    readonly duration: number;
    readonly segments?: ReadonlyArray<{
      readonly id: number;
      readonly seek: number;
      /** Seconds from the beginning. */
      readonly start: number;
      /** Seconds from the beginning. */
      readonly end: number;
      readonly text: string;
      readonly tokens: ReadonlyArray<number>;
      readonly temperature: number;
      readonly avg_logprob: number;
      readonly compression_ratio: number;
      readonly no_speech_prob: number;
    }>;
    readonly words?: ReadonlyArray<{
      readonly word: string;
      /** Seconds from the beginning. */
      readonly start: number;
      /** Seconds from the beginning. */
      readonly end: number;
    }>;
    /** The times are reckoned from the text, not heard. */
    readonly estimated_times?: true;
    readonly usage: {
      readonly type: 'duration';
      readonly seconds: number;
      /** The same as `seconds`. */
      readonly audio_seconds: number;
      readonly credits: number;
    };
  };
  /** Why there is no result. */
  readonly error?: {
    readonly message: string;
    readonly type: string;
    readonly code: string;
    /** The field at fault, where one is known. */
    readonly param: string | null;
  };
};

export type Upstream = {
  readonly id: string;
  readonly object: 'upstream';
  readonly vendor: string;
  readonly base_url: string | null;
  /** As configured; null goes by the host. */
  readonly dialect: string | null;
  readonly has_secret: boolean;
  readonly groups: ReadonlyArray<string>;
  readonly priority: number;
  readonly weight: number;
  readonly timeout_seconds: number;
  readonly enabled: boolean;
  /** The models that have a route here. */
  readonly models: ReadonlyArray<string>;
  /** Of this process. */
  readonly attempts_last_minute: number;
  /** Of the upstream as a whole: its credential and balance. */
  readonly health: Breaker;
  /** Every model on its wire that a route leads to. */
  readonly upstream_models: ReadonlyArray<{
    readonly id: string;
    readonly health: Breaker;
    /** As this process has measured it, where `routing` is `fastest`. */
    readonly latency: UpstreamLatency;
  }>;
};

export type UpstreamLatency = {
  /** Until an answer that streams begins. */
  readonly first_piece_ms: number | null;
  /** Until a whole answer, or the result of a job. */
  readonly result_ms: number | null;
};

export type UpstreamModels = {
  readonly object: 'upstream_models';
  readonly upstream_id: string;
  /** Whether its vendor has a call that lists models. */
  readonly can_tell: boolean;
  /** Of its HTTP answer; null when there was none. */
  readonly status: number | null;
  /** What kind of fault it was. */
  readonly code: string | null;
  /** What the operator has to mend. */
  readonly problem: 'bad_key' | 'no_money' | 'unknown_model' | 'unreachable' | 'tls' | 'clock' | 'busy' | 'timeout' | 'refused' | 'broken' | null;
  /** The same in words, or why a call was not made. */
  readonly message: string | null;
  /** The upstream’s own words, without secrets. */
  readonly detail: string | null;
  readonly data: ReadonlyArray<{
    /** As a route names it. */
    readonly id: string;
    /** The models of the configuration that lead to it. */
    readonly used_by: ReadonlyArray<string>;
  }>;
  /** Names in routes that the upstream did not list. */
  readonly unlisted: ReadonlyArray<string>;
  /** Whether it has more than was read. */
  readonly has_more: boolean;
};

export type UpstreamTest = {
  readonly object: 'upstream_test';
  readonly upstream_id: string;
  /** Whether every call that was made did what it should. */
  readonly ok: boolean;
  /** What was asked of it by the call that failed first, else by the first. */
  readonly what: string;
  readonly duration_ms: number;
  /** Of its HTTP answer; null when there was none. */
  readonly status: number | null;
  /** What kind of fault it was. */
  readonly code: string | null;
  /** What the operator has to mend. */
  readonly problem: 'bad_key' | 'no_money' | 'unknown_model' | 'unreachable' | 'tls' | 'clock' | 'busy' | 'timeout' | 'refused' | 'broken' | null;
  /** The same in words, or why a call was not made. */
  readonly message: string | null;
  /** The upstream’s own words, without secrets. */
  readonly detail: string | null;
  /** One for each kind of work that it is configured for. */
  readonly calls: ReadonlyArray<UpstreamTestCall>;
};

export type UpstreamTestCall = {
  /** The kind of work. */
  readonly kind: 'chat' | 'embedding' | 'speech' | 'transcription' | 'image' | 'video' | 'music' | 'credential' | 'connection';
  /** Null where the call was not made. */
  readonly ok: boolean | null;
  /** What was asked of it. */
  readonly what: string;
  readonly duration_ms: number;
  /** Of its HTTP answer; null when there was none. */
  readonly status: number | null;
  /** What kind of fault it was. */
  readonly code: string | null;
  /** What the operator has to mend. */
  readonly problem: 'bad_key' | 'no_money' | 'unknown_model' | 'unreachable' | 'tls' | 'clock' | 'busy' | 'timeout' | 'refused' | 'broken' | null;
  /** The same in words, or why a call was not made. */
  readonly message: string | null;
  /** The upstream’s own words, without secrets. */
  readonly detail: string | null;
};

export type UpstreamUsageReport = {
  readonly object: 'usage';
  readonly group_by: 'upstream';
  readonly split_by: null;
  readonly from: number;
  readonly to: number;
  readonly data: ReadonlyArray<{
    /** The upstream; `(unknown)` where the request log does not tell it. */
    readonly group: string;
    /** Those that were charged. */
    readonly requests: number;
    /** What was charged. */
    readonly credits: number;
    /** Null where the request log does not reach so far back. */
    readonly errors: number | null;
    /** In credits, of requests whose route states its cost; null where none does. */
    readonly cost: number | null;
    /** What was charged for those, less their cost. */
    readonly margin: number | null;
    /** What was charged for requests whose cost is not known. */
    readonly credits_without_cost: number;
  }>;
  readonly has_more: boolean;
};

export type Usage = {
  readonly object: 'usage';
  readonly group_by: 'day' | 'model' | 'key';
  readonly from: number;
  readonly to: number;
  readonly data: ReadonlyArray<{
    readonly group: string;
    readonly requests: number;
    readonly credits: number;
  }>;
};

export type UsageReport = {
  readonly object: 'usage';
  readonly group_by: 'day' | 'account' | 'key' | 'model' | 'modality' | 'endpoint';
  readonly split_by: 'model' | 'key' | 'modality' | 'endpoint' | 'account' | null;
  readonly from: number;
  readonly to: number;
  readonly data: ReadonlyArray<{
    readonly group: string;
    /** Those that were charged. */
    readonly requests: number;
    readonly credits: number;
    /** Answered with an error; null where the request log does not reach so far back. */
    readonly errors: number | null;
  } | {
    readonly day: string;
    readonly group: string;
    /** Those that were charged. */
    readonly requests: number;
    readonly credits: number;
    /** Answered with an error; null where the request log does not reach so far back. */
    readonly errors: number | null;
  }>;
  readonly has_more: boolean;
};

export type Video = {
  /** The job, at `/v1/jobs` too. */
  readonly id: string;
  readonly object: 'video';
  readonly model: string;
  readonly status: 'queued' | 'in_progress' | 'completed' | 'failed';
  readonly progress: number;
  /** Unix seconds. */
  readonly created_at: number;
  readonly completed_at: number | null;
  readonly expires_at: number | null;
  /** As asked for, else as made; empty while neither is known. */
  readonly seconds: string;
  /** As asked for, else as made; empty while neither is known. */
  readonly size: string;
  readonly prompt: string | null;
  readonly remixed_from_video_id: null;
  readonly error: {
    readonly code: string;
    readonly message: string;
  } | null;
};

export type VoicePreviews = {
  readonly object: 'audio.voice_previews';
  /** Unix seconds. */
  readonly created: number;
  readonly model: string;
  readonly previews: ReadonlyArray<{
    readonly voice_id: string;
    readonly name: string;
    readonly description: string;
    readonly format: string;
    readonly mime_type: string;
    readonly b64_json?: string;
    /** Works for 15 minutes, without a credential. */
    readonly url?: string;
    readonly seconds: number;
  }>;
  readonly usage: {
    readonly characters: number;
    readonly audio_seconds: number;
    /** What the call cost. */
    readonly credits: number;
  };
};
