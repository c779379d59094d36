"""Shapes on the wire. Made by "npm run python:types" from the gateway's contracts. Read it; do not edit it."""

from typing import Any, Literal, Mapping, Sequence, Union

from typing_extensions import NotRequired, TypedDict

ErrorCode = Literal[
    "account_disabled",
    "admission_in_progress",
    "ambiguous_input",
    "body_too_large",
    "conflicting_parameters",
    "content_rejected",
    "database_unavailable",
    "empty_audio_response",
    "empty_file",
    "empty_image",
    "empty_mask",
    "empty_transcription_response",
    "file_not_found",
    "file_quota_exceeded",
    "file_too_large",
    "form_field_too_large",
    "idempotency_conflict",
    "identity_unavailable",
    "image_too_large",
    "insufficient_credits",
    "insufficient_scope",
    "internal_error",
    "invalid_api_key",
    "invalid_duration",
    "invalid_fps",
    "invalid_idempotency_key",
    "invalid_input_reference",
    "invalid_input_url",
    "invalid_json",
    "invalid_mask",
    "invalid_media_url",
    "invalid_multipart",
    "invalid_n",
    "invalid_output",
    "invalid_output_format",
    "invalid_parameter",
    "invalid_reference_audio",
    "invalid_response_format",
    "invalid_seconds",
    "invalid_temperature",
    "invalid_timestamp_granularity",
    "item_not_found",
    "job_asset_not_ready",
    "job_not_found",
    "job_service_unavailable",
    "key_disabled",
    "key_expired",
    "limits_unavailable",
    "malformed_request",
    "media_open_job_capacity",
    "missing_file",
    "missing_image",
    "missing_input",
    "missing_messages",
    "missing_model",
    "missing_prompt",
    "missing_token",
    "model_not_found",
    "no_account",
    "no_available_provider",
    "no_capable_provider",
    "precheck_failed",
    "rate_limited",
    "request_canceled",
    "request_timeout",
    "shutting_down",
    "text_too_long",
    "too_many_concurrent_requests",
    "unexpected_file",
    "unreadable_file",
    "unreadable_image",
    "unsupported_audio_format",
    "unsupported_content_encoding",
    "unsupported_content_type",
    "unsupported_file_format",
    "unsupported_image_format",
    "unsupported_media_url_scheme",
    "unsupported_parameter",
    "upstream_failed",
    "upstream_rejected",
    "upstream_response_too_large",
    "url_in_extra",
    "voice_sample_too_large",
]


class ChatRequest(TypedDict):
    model: str
    max_tokens: NotRequired[int]
    max_completion_tokens: NotRequired[int]
    n: NotRequired[int]
    temperature: NotRequired[float]
    top_p: NotRequired[float]
    presence_penalty: NotRequired[float]
    frequency_penalty: NotRequired[float]
    seed: NotRequired[float]
    stop: NotRequired[Union[str, Sequence[str]]]
    logprobs: NotRequired[bool]
    top_logprobs: NotRequired[int]
    logit_bias: NotRequired[Mapping[str, Any]]
    tools: NotRequired[Sequence[Mapping[str, Any]]]
    tool_choice: NotRequired[Union[str, Mapping[str, Any]]]
    parallel_tool_calls: NotRequired[bool]
    response_format: NotRequired[Mapping[str, Any]]
    user: NotRequired[str]


class EmbeddingRequest(TypedDict):
    model: str
    input: Union[str, Sequence[str], Sequence[int], Sequence[Sequence[int]]]
    dimensions: NotRequired[int]
    user: NotRequired[str]


EstimateRequestEndpoint = Literal["images", "image_edits", "videos", "chat", "native", "audio_speech", "transcriptions", "audio_music", "embeddings", "responses", "messages"]


class EstimateRequest(TypedDict):
    # The route that the rest of the body is for, as in a model’s `endpoints`; or a format of `chat`.
    endpoint: EstimateRequestEndpoint
    model: str


ImageEditRequestOutputFormat = Literal["png", "jpeg", "webp"]


ImageEditRequestResponseFormat = Literal["url", "b64_json"]


class MediaInputObject(TypedDict):
    url: NotRequired[Union[str, None]]
    b64: NotRequired[Union[str, None]]
    mime_type: NotRequired[Union[str, None]]
    filename: NotRequired[Union[str, None]]


MediaInput = Union[str, MediaInputObject]


class ImageEditRequestMetadata(TypedDict):
    # The same as `resolution`.
    resolution: NotRequired[Union[str, None]]


class ImageEditRequest(TypedDict):
    model: str
    prompt: str
    n: NotRequired[int]
    size: NotRequired[str]
    resolution: NotRequired[str]
    aspect_ratio: NotRequired[str]
    quality: NotRequired[str]
    style: NotRequired[str]
    negative_prompt: NotRequired[str]
    background: NotRequired[str]
    output_format: NotRequired[ImageEditRequestOutputFormat]
    response_format: NotRequired[ImageEditRequestResponseFormat]
    seed: NotRequired[int]
    watermark: NotRequired[bool]
    reference_images: NotRequired[Sequence[MediaInput]]
    mask: NotRequired[MediaInput]
    metadata: NotRequired[ImageEditRequestMetadata]
    # One picture or several: the same as `reference_images`.
    image: NotRequired[Union[Sequence[MediaInput], MediaInput]]


ImageRequestOutputFormat = Literal["png", "jpeg", "webp"]


ImageRequestResponseFormat = Literal["url", "b64_json"]


class ImageRequestMetadata(TypedDict):
    # The same as `resolution`.
    resolution: NotRequired[Union[str, None]]


class ImageRequest(TypedDict):
    model: str
    prompt: str
    n: NotRequired[int]
    size: NotRequired[str]
    resolution: NotRequired[str]
    aspect_ratio: NotRequired[str]
    quality: NotRequired[str]
    style: NotRequired[str]
    negative_prompt: NotRequired[str]
    background: NotRequired[str]
    output_format: NotRequired[ImageRequestOutputFormat]
    response_format: NotRequired[ImageRequestResponseFormat]
    seed: NotRequired[int]
    watermark: NotRequired[bool]
    reference_images: NotRequired[Sequence[MediaInput]]
    mask: NotRequired[MediaInput]
    metadata: NotRequired[ImageRequestMetadata]


class SoundRequestVoice(TypedDict):
    id: str


SoundRequestResponseFormat = Literal["mp3", "wav", "pcm", "opus", "flac", "aac", "ogg"]


class SoundRequest(TypedDict):
    model: str
    input: NotRequired[str]
    prompt: NotRequired[str]
    lyrics: NotRequired[str]
    voice_description: NotRequired[str]
    voice: NotRequired[Union[str, SoundRequestVoice]]
    reference_id: NotRequired[str]
    language: NotRequired[str]
    response_format: NotRequired[SoundRequestResponseFormat]
    n: NotRequired[int]
    duration_seconds: NotRequired[float]
    speed: NotRequired[float]
    volume: NotRequired[float]
    loudness: NotRequired[float]
    guidance_scale: NotRequired[float]
    prompt_influence: NotRequired[float]
    sample_rate: NotRequired[int]
    bitrate: NotRequired[int]
    seed: NotRequired[int]
    instrumental: NotRequired[bool]
    loop: NotRequired[bool]
    auto_generate_text: NotRequired[bool]
    reference_audio: NotRequired[Sequence[str]]


TranscriptionRequestTimestampGranularities = Literal["segment", "word"]


class TranscriptionRequest(TypedDict):
    model: str
    # Where the clip is, instead of a file.
    url: NotRequired[str]
    language: NotRequired[str]
    prompt: NotRequired[str]
    temperature: NotRequired[float]
    timestamp_granularities: NotRequired[Union[Sequence[TranscriptionRequestTimestampGranularities], TranscriptionRequestTimestampGranularities]]


class VideoRequest(TypedDict):
    model: str
    prompt: NotRequired[str]
    seconds: NotRequired[Union[float, str]]
    resolution: NotRequired[str]
    size: NotRequired[str]
    aspect_ratio: NotRequired[str]
    fps: NotRequired[int]
    seed: NotRequired[int]
    negative_prompt: NotRequired[str]
    camera_fixed: NotRequired[bool]
    watermark: NotRequired[bool]
    generate_audio: NotRequired[bool]
    # A picture to go by; it is never a frame.
    input_reference: NotRequired[MediaInput]
    reference_image_urls: NotRequired[Sequence[MediaInput]]
    first_frame: NotRequired[MediaInput]
    last_frame: NotRequired[MediaInput]
    reference_videos: NotRequired[Sequence[str]]
    reference_audios: NotRequired[Sequence[str]]
    ref_video_url: NotRequired[str]
    # Passed on to the model as it is.
    extra: NotRequired[Mapping[str, Any]]


AssetKind = Literal["image", "video", "audio", "thumbnail"]


AssetStorage = Literal["s3", "disk"]


class Asset(TypedDict):
    id: str
    job_id: str
    ordinal: int
    kind: AssetKind
    # What holds it: a bucket, or a folder of the gateway.
    storage: AssetStorage
    mime_type: str
    bytes: int
    width: NotRequired[float]
    height: NotRequired[float]
    seconds: NotRequired[float]
    # Works for 15 minutes, without a credential.
    url: str
    # Unix seconds.
    expires_at: int
    # Unix seconds.
    created_at: int


class ChatCompletionUsage(TypedDict):
    prompt_tokens: int
    completion_tokens: int
    total_tokens: int
    # What the call cost.
    credits: float


class ChatCompletion(TypedDict):
    id: str
    object: Literal["chat.completion"]
    created: int
    model: str
    choices: list[dict[str, Any]]
    usage: ChatCompletionUsage


class CreditBalance(TypedDict):
    object: Literal["credit_balance"]
    # What can be spent now; below zero by what real usage exceeded.
    available: float
    # What running calls and jobs hold.
    reserved: float
    spent: float
    updated_at: int


class EmbeddingsData(TypedDict):
    object: Literal["embedding"]
    # Of the input.
    index: int
    # Numbers, or where `encoding_format` is base64 their bytes as float32, small end first.
    embedding: Union[list[float], str]


class EmbeddingsUsage(TypedDict):
    prompt_tokens: int
    total_tokens: int
    # Counted here, because the upstream told nothing.
    estimated: NotRequired[Literal[True]]
    # What the call cost.
    credits: float


class Embeddings(TypedDict):
    object: Literal["list"]
    data: list[EmbeddingsData]
    model: str
    usage: EmbeddingsUsage


EstimateEndpoint = Literal["images", "image_edits", "videos", "chat", "native", "audio_speech", "transcriptions", "audio_music", "embeddings", "responses", "messages"]


class EstimateFactorsUnits(TypedDict):
    unit: str
    count: float
    per: float
    rate: float


class EstimateFactorsRatios(TypedDict):
    map: str
    key: str
    ratio: float


class EstimateFactors(TypedDict):
    mode: str
    # Credits charged once, which no ratio multiplies.
    once: float
    units: list[EstimateFactorsUnits]
    ratios: list[EstimateFactorsRatios]


class Estimate(TypedDict):
    object: Literal["estimate"]
    model: str
    endpoint: EstimateEndpoint
    # What the call would reserve.
    credits: float
    factors: EstimateFactors


class File(TypedDict):
    id: str
    object: Literal["file"]
    bytes: int
    filename: str
    mime_type: str
    purpose: Union[str, None]
    # Works for 24 hours, without a credential, and wherever a URL of media is taken.
    url: str
    created_at: int
    expires_at: int


JobStatus = Literal["queued", "running", "succeeded", "failed", "queue_expired", "canceled"]


JobKind = Literal["image", "video", "audio"]


class JobUsage(TypedDict):
    credits: float


class Job(TypedDict):
    id: str
    object: Literal["job"]
    status: JobStatus
    kind: JobKind
    model: str
    progress: int
    # Unix seconds.
    created_at: int
    # Unix seconds.
    updated_at: NotRequired[int]
    # Unix seconds.
    finished_at: NotRequired[int]
    # Unix seconds.
    dispatch_deadline_at: int
    error_code: NotRequired[str]
    error: NotRequired[str]
    # What it cost, once it has ended.
    usage: NotRequired[JobUsage]


ModelModality = Literal["image", "video", "chat", "audio"]


ModelEndpoints = Literal["images", "image_edits", "videos", "chat", "native", "audio_speech", "transcriptions", "audio_music", "embeddings"]


PricingMode = Literal["per_image", "per_request", "per_second", "per_token", "per_k_char", "per_audio_second"]


class PricingCredits(TypedDict):
    base: NotRequired[float]
    per_second: NotRequired[float]
    input_per_k: NotRequired[float]
    output_per_k: NotRequired[float]
    cached_per_k: NotRequired[float]
    cache_write_per_k: NotRequired[float]
    reasoning_per_k: NotRequired[float]


class PricingFlagRatio(TypedDict):
    generate_audio: NotRequired[float]
    reference_video: NotRequired[float]


class PricingTokenTiers(TypedDict):
    min_prompt_tokens: int
    input_per_k: NotRequired[float]
    output_per_k: NotRequired[float]
    cached_per_k: NotRequired[float]
    cache_write_per_k: NotRequired[float]
    reasoning_per_k: NotRequired[float]


class Pricing(TypedDict):
    mode: PricingMode
    currency: Literal["usd"]
    credits: PricingCredits
    size_ratio: NotRequired[dict[str, float]]
    quality_ratio: NotRequired[dict[str, float]]
    resolution_ratio: NotRequired[dict[str, float]]
    flag_ratio: NotRequired[PricingFlagRatio]
    token_tiers: NotRequired[list[PricingTokenTiers]]


class Model(TypedDict):
    id: str
    object: Literal["model"]
    # Unix seconds.
    created: int
    owned_by: str
    modality: ModelModality
    display_name: str
    description: str
    tags: list[str]
    endpoints: list[ModelEndpoints]
    pricing: Pricing
    # As clients of the Messages format read a model.
    type: Literal["model"]
    # The same time as `created`.
    created_at: str


TranscriptionTask = Literal["transcribe", "translate"]


class TranscriptionSegments(TypedDict):
    id: int
    seek: int
    # Seconds from the beginning.
    start: float
    # Seconds from the beginning.
    end: float
    text: str
    tokens: list[int]
    temperature: float
    avg_logprob: float
    compression_ratio: float
    no_speech_prob: float


class TranscriptionWords(TypedDict):
    word: str
    # Seconds from the beginning.
    start: float
    # Seconds from the beginning.
    end: float


class TranscriptionUsage(TypedDict):
    type: Literal["duration"]
    seconds: float
    # The same as `seconds`.
    audio_seconds: float
    credits: float


class Transcription(TypedDict):
    task: NotRequired[TranscriptionTask]
    # An ISO code: as heard, else as given; null where neither is known.
    language: NotRequired[Union[str, None]]
    duration: NotRequired[float]
    text: str
    segments: NotRequired[list[TranscriptionSegments]]
    words: NotRequired[list[TranscriptionWords]]
    # The times are reckoned from the text, not heard.
    estimated_times: NotRequired[Literal[True]]
    usage: TranscriptionUsage
