// Made by "npm run client:types" from the gateway's contracts. Read it; do not edit it.

export type ErrorCode =
  | 'account_disabled'
  | 'admission_in_progress'
  | 'ambiguous_input'
  | 'body_too_large'
  | 'conflicting_parameters'
  | 'content_rejected'
  | 'database_unavailable'
  | 'empty_audio_response'
  | 'empty_file'
  | 'empty_image'
  | 'empty_mask'
  | 'empty_transcription_response'
  | 'file_not_found'
  | 'file_quota_exceeded'
  | 'file_too_large'
  | 'form_field_too_large'
  | 'idempotency_conflict'
  | 'identity_unavailable'
  | 'image_too_large'
  | 'insufficient_credits'
  | 'insufficient_scope'
  | 'internal_error'
  | 'invalid_api_key'
  | 'invalid_duration'
  | 'invalid_fps'
  | 'invalid_idempotency_key'
  | 'invalid_input_reference'
  | 'invalid_input_url'
  | 'invalid_json'
  | 'invalid_mask'
  | 'invalid_media_url'
  | 'invalid_multipart'
  | 'invalid_n'
  | 'invalid_output'
  | 'invalid_output_format'
  | 'invalid_parameter'
  | 'invalid_reference_audio'
  | 'invalid_response_format'
  | 'invalid_seconds'
  | 'invalid_temperature'
  | 'invalid_timestamp_granularity'
  | 'item_not_found'
  | 'job_asset_not_ready'
  | 'job_not_found'
  | 'job_service_unavailable'
  | 'key_disabled'
  | 'key_expired'
  | 'limits_unavailable'
  | 'malformed_request'
  | 'media_open_job_capacity'
  | 'missing_file'
  | 'missing_image'
  | 'missing_input'
  | 'missing_messages'
  | 'missing_model'
  | 'missing_prompt'
  | 'missing_token'
  | 'model_not_found'
  | 'no_account'
  | 'no_available_provider'
  | 'no_capable_provider'
  | 'precheck_failed'
  | 'rate_limited'
  | 'request_canceled'
  | 'request_timeout'
  | 'shutting_down'
  | 'text_too_long'
  | 'too_many_concurrent_requests'
  | 'unexpected_file'
  | 'unreadable_file'
  | 'unreadable_image'
  | 'unsupported_audio_format'
  | 'unsupported_content_encoding'
  | 'unsupported_content_type'
  | 'unsupported_file_format'
  | 'unsupported_image_format'
  | 'unsupported_media_url_scheme'
  | 'unsupported_parameter'
  | 'upstream_failed'
  | 'upstream_rejected'
  | 'upstream_response_too_large'
  | 'url_in_extra'
  | 'voice_sample_too_large';

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

export type ChatRequest = {
  readonly model: string;
  readonly max_tokens?: number | undefined;
  readonly max_completion_tokens?: number | undefined;
  readonly n?: number | undefined;
  readonly temperature?: number | undefined;
  readonly top_p?: number | undefined;
  readonly presence_penalty?: number | undefined;
  readonly frequency_penalty?: number | undefined;
  readonly seed?: number | undefined;
  readonly stop?: string | ReadonlyArray<string> | undefined;
  readonly logprobs?: boolean | undefined;
  readonly top_logprobs?: number | undefined;
  readonly logit_bias?: Readonly<Record<string, unknown>> | undefined;
  readonly tools?: ReadonlyArray<Readonly<Record<string, unknown>>> | undefined;
  readonly tool_choice?: string | Readonly<Record<string, unknown>> | undefined;
  readonly parallel_tool_calls?: boolean | undefined;
  readonly response_format?: Readonly<Record<string, unknown>> | undefined;
  readonly user?: string | undefined;
  readonly [field: string]: unknown;
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

export type EmbeddingRequest = {
  readonly model: string;
  readonly input: string | ReadonlyArray<string> | ReadonlyArray<number> | ReadonlyArray<ReadonlyArray<number>>;
  readonly dimensions?: number | undefined;
  readonly user?: string | undefined;
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

export type EstimateRequest = {
  /** The route that the rest of the body is for, as in a model’s `endpoints`; or a format of `chat`. */
  readonly endpoint: 'images' | 'image_edits' | 'videos' | 'chat' | 'native' | 'audio_speech' | 'transcriptions' | 'audio_music' | 'embeddings' | 'responses' | 'messages';
  readonly model: string;
  readonly [field: string]: unknown;
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

export type ImageEditRequest = {
  readonly model: string;
  readonly prompt: string;
  readonly n?: number | undefined;
  readonly size?: string | undefined;
  readonly resolution?: string | undefined;
  readonly aspect_ratio?: string | undefined;
  readonly quality?: string | undefined;
  readonly style?: string | undefined;
  readonly negative_prompt?: string | undefined;
  readonly background?: string | undefined;
  readonly output_format?: 'png' | 'jpeg' | 'webp' | undefined;
  readonly response_format?: 'url' | 'b64_json' | undefined;
  readonly seed?: number | undefined;
  readonly watermark?: boolean | undefined;
  readonly reference_images?: ReadonlyArray<MediaInput> | undefined;
  readonly mask?: MediaInput | undefined;
  readonly metadata?: {
    /** The same as `resolution`. */
    readonly resolution?: string | null | undefined;
  } | undefined;
  /** One picture or several: the same as `reference_images`. */
  readonly image?: ReadonlyArray<MediaInput> | MediaInput | undefined;
};

export type ImageRequest = {
  readonly model: string;
  readonly prompt: string;
  readonly n?: number | undefined;
  readonly size?: string | undefined;
  readonly resolution?: string | undefined;
  readonly aspect_ratio?: string | undefined;
  readonly quality?: string | undefined;
  readonly style?: string | undefined;
  readonly negative_prompt?: string | undefined;
  readonly background?: string | undefined;
  readonly output_format?: 'png' | 'jpeg' | 'webp' | undefined;
  readonly response_format?: 'url' | 'b64_json' | undefined;
  readonly seed?: number | undefined;
  readonly watermark?: boolean | undefined;
  readonly reference_images?: ReadonlyArray<MediaInput> | undefined;
  readonly mask?: MediaInput | undefined;
  readonly metadata?: {
    /** The same as `resolution`. */
    readonly resolution?: string | null | undefined;
  } | undefined;
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

export type MediaInput = string | {
  readonly url?: string | null | undefined;
  readonly b64?: string | null | undefined;
  readonly mime_type?: string | null | undefined;
  readonly filename?: string | null | undefined;
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

export type SoundRequest = {
  readonly model: string;
  readonly input?: string | undefined;
  readonly prompt?: string | undefined;
  readonly lyrics?: string | undefined;
  readonly voice_description?: string | undefined;
  readonly voice?: string | {
    readonly id: string;
  } | undefined;
  readonly reference_id?: string | undefined;
  readonly language?: string | undefined;
  readonly response_format?: 'mp3' | 'wav' | 'pcm' | 'opus' | 'flac' | 'aac' | 'ogg' | undefined;
  readonly n?: number | undefined;
  readonly duration_seconds?: number | undefined;
  readonly speed?: number | undefined;
  readonly volume?: number | undefined;
  readonly loudness?: number | undefined;
  readonly guidance_scale?: number | undefined;
  readonly prompt_influence?: number | undefined;
  readonly sample_rate?: number | undefined;
  readonly bitrate?: number | undefined;
  readonly seed?: number | undefined;
  readonly instrumental?: boolean | undefined;
  readonly loop?: boolean | undefined;
  readonly auto_generate_text?: boolean | undefined;
  readonly reference_audio?: ReadonlyArray<string> | undefined;
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

export type TranscriptionRequest = {
  readonly model: string;
  /** Where the clip is, instead of a file. */
  readonly url?: string | undefined;
  readonly language?: string | undefined;
  readonly prompt?: string | undefined;
  readonly temperature?: number | undefined;
  readonly timestamp_granularities?: ReadonlyArray<'segment' | 'word'> | 'segment' | 'word' | undefined;
};

export type VideoRequest = {
  readonly model: string;
  readonly prompt?: string | undefined;
  readonly seconds?: number | string | undefined;
  readonly resolution?: string | undefined;
  readonly size?: string | undefined;
  readonly aspect_ratio?: string | undefined;
  readonly fps?: number | undefined;
  readonly seed?: number | undefined;
  readonly negative_prompt?: string | undefined;
  readonly camera_fixed?: boolean | undefined;
  readonly watermark?: boolean | undefined;
  readonly generate_audio?: boolean | undefined;
  /** A picture to go by; it is never a frame. */
  readonly input_reference?: MediaInput | undefined;
  readonly reference_image_urls?: ReadonlyArray<MediaInput> | undefined;
  readonly first_frame?: MediaInput | undefined;
  readonly last_frame?: MediaInput | undefined;
  readonly reference_videos?: ReadonlyArray<string> | undefined;
  readonly reference_audios?: ReadonlyArray<string> | undefined;
  readonly ref_video_url?: string | undefined;
  /** Passed on to the model as it is. */
  readonly extra?: Readonly<Record<string, unknown>> | undefined;
};
