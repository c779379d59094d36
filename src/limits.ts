/** Every bound in the program, with its unit in its name. Those of the public contract are named in docs/errors.md. */

export * from './database-limits.ts';
export * from './file-limits.ts';
export * from './mcp-limits.ts';
export * from './media-limits.ts';
export * from './row-limits.ts';
export * from './vector-limits.ts';
export * from './wait-limits.ts';

const KIB = 1024;
const MIB = 1024 * KIB;

// Requests.
export const REQUEST_ID_CHARS_MAX = 128;
export const CREDENTIAL_BYTES_MAX = 512;
export const JSON_DEPTH_MAX = 64;
/** Objects, lists and all that is in them. */
export const JSON_VALUES_MAX = 100_000;
/** In the answer to a transcription: a day of speech, with the time of every word. */
export const TRANSCRIPT_VALUES_MAX = 2_000_000;
/** Different names of members in one text: an object of very many names costs tens of times as much as a list. */
export const JSON_NAMES_MAX = 3_000;
/** A JSON body that is larger in bytes or in values is parsed in a thread: it would block the event loop too long. */
export const JSON_INLINE_MAX = { bytes: 256 * KIB, values: 10_000 };
/** After a body of this size the event loop is left to others for so long before the next is begun. */
export const BODY_REST_FROM_BYTES = MIB;
export const BODY_REST_MS = 20;
export const HEADER_BYTES_MAX = 32 * KIB;
export const HEADERS_TIMEOUT_MS = 30_000;
export const REQUEST_TIMEOUT_MS = 600_000;
/** How much later than these two a request may be given up. */
export const TIMEOUT_CHECK_MS = 2_000;
export const ADMIN_BODY_BYTES_MAX = MIB;
export const CONFIG_BODY_BYTES_MAX = 8 * MIB;
/** Above it a thread parses the document: these many characters take a hundredth of a second or two, once the code is warm. */
export const CONFIG_INLINE_CHARS_MAX = 4 * KIB;
/** Up to it such a document is read a second time where something is wrong with it, to say in which line. */
export const CONFIG_LOCATED_CHARS_MAX = 32 * KIB;
export const ESTIMATE_BODY_BYTES_MAX = 32 * MIB;
export const PATH_PARAM_CHARS_MAX = 2048;
export const LOGGED_PATH_CHARS_MAX = 200;
/** How often a caller who has ended its side is sent an interim answer, which finds out whether it still listens. */
export const HALF_CLOSED_PROBE_MS = 1_000;
/** A body may come slowly for so long; from then on it must bring so much in each window. */
export const UPLOAD_GRACE_MS = 10_000;
export const UPLOAD_WINDOW_MS = 30_000;
export const UPLOAD_BYTES_PER_SECOND_MIN = KIB;
/** Bodies that are still coming after the grace. */
export const UPLOADS_PER_ACCOUNT_MAX = 64;
export const UPLOADS_PER_ADDRESS_MAX = 128;
/** How much later than these say a body may be given up. */
export const UPLOADS_CHECK_MS = 1_000;
/** Above the cap of connections of an address, so many more are told so; the rest are reset. */
export const REFUSED_CONNECTIONS_PER_ADDRESS_MAX = 16;
export const CONNECTIONS_MAX_MAX = 1_000_000;
/** What a caller must read of an answer that waits for it, in each window. */
export const READER_WINDOW_MS = 60_000;
export const READER_BYTES_PER_SECOND_MIN = KIB;
/** How much later than that a reader may be disconnected. */
export const CONNECTIONS_CHECK_MS = 1_000;

// Upstreams.
export const UPSTREAM_CONNECT_TIMEOUT_MS = 5_000;
/** Of an answer that is not ours, per turn of the event loop: what TLS gives at once as well. */
export const READ_BYTES_MAX = 16 * KIB;
/** For all of an operator's test of an upstream. */
export const UPSTREAM_TEST_TIMEOUT_MS = 30_000;
/** Of an upstream's list of its models. */
export const UPSTREAM_MODEL_PAGES_MAX = 20;
export const UPSTREAM_CONNECTIONS_MAX = 256;
/** Access tokens of clouds: how long before its end one is renewed, when a renewal that failed is tried again, how many. */
export const TOKEN_AHEAD_MS = 300_000;
export const TOKEN_RETRY_MS = 5_000;
export const TOKENS_MAX = 256;
/** How long a server that gives tokens may be silent. */
export const TOKEN_TIMEOUT_MS = 10_000;
export const UPSTREAM_RESPONSE_BYTES_MAX = 32 * MIB;
/** Pictures come inside the answer, as base64. */
export const UPSTREAM_PICTURES_BYTES_MAX = 128 * MIB;
export const UPSTREAM_FRAME_BYTES_MAX = 16 * MIB;
/** What an upstream may count beyond the order before it is not believed: a share of it, and a little of each unit. */
export const CLAIM_TOLERANCE = { share: 0.05, tokens: 16, milliseconds: 1_000 };
/** How much longer than the usual length a result may be when neither the caller nor the model states one. */
export const OPEN_LENGTH_FACTOR = 10;
/** Tokens that an upstream may add to a prompt of its own accord: templates, descriptions of tools, a preamble. */
export const INPUT_TOKENS_SLACK = 4_096;
/** The longest prompt, and the longest answer, of a model whose configuration states none. */
export const INPUT_TOKENS_UNSTATED_MAX = 2_000_000;
export const OUTPUT_TOKENS_UNSTATED_MAX = 131_072;
export const UPSTREAM_ERROR_BYTES_MAX = 2_000;
/** An upstream that is faster than its caller reads is held back at this much. */
export const UPSTREAM_BUFFER_BYTES_MAX = 256 * KIB;
/** What is sent from memory goes in pieces of this size, so that an upload that moves is not taken for silence. */
export const UPSTREAM_PIECE_BYTES = 256 * KIB;
export const ATTEMPTS_MAX = 3;
/** Before a candidate that has just failed is tried once more. */
export const RETRY_PAUSE_MS = { least: 50, most: 200 };
/** Requests in a row that failed at an upstream model; this many open its breaker. */
export const STRIKES_MAX = 3;
/** Half of the attempts of this time failed, and there were at least so many: that opens it too. */
export const FAULT_WINDOW_SECONDS = 30;
export const FAULT_WINDOW_ATTEMPTS_MIN = 10;
/** How long a breaker stays open; each probe that fails doubles it. */
export const OPEN_MS = {
  strikes: { first: 10_000, most: 300_000 },
  rate: { first: 5_000, most: 60_000 },
  operator: { first: 60_000, most: 600_000 },
};
/** By how much of itself such a time is drawn out at random, so that processes do not probe together. */
export const OPEN_JITTER = 0.1;
export const RETRY_AFTER_MS_MAX = 600_000;
/** An open breaker lets one request in this time through before its own time has come. */
export const PROBE_EVERY_MS = 1_000;
/** A fault that opens nothing is written down for the operator at most this often. */
export const FAULT_NOTE_EVERY_MS = 1_000;
export const CHAT_BODY_BYTES_MAX = 32 * MIB;
export const NATIVE_BODY_BYTES_MAX = 32 * MIB;
export const CHAT_MESSAGES_MAX = 10_000;
/** How long an output item of a response can be referred to. */
export const RESPONSE_ITEM_KEPT_MS = 24 * 60 * 60 * 1000;
/** Responses whose items are written in one transaction. */
export const RESPONSE_ITEMS_PER_COMMIT = 256;
export const KEEP_ALIVE_EVERY_MS = 15_000;

// Guarded fetch.
export const FETCH_REDIRECTS_MAX = 5;
export const FETCH_CONNECT_TIMEOUT_MS = 10_000;
export const FETCH_TIMEOUT_MS = 60_000;
export const FETCH_URL_CHARS_MAX = 16 * KIB;
/** A name may have more addresses; all are judged, and this many are tried. */
export const FETCH_ADDRESSES_MAX = 8;

// Jobs and files.
export const IDEMPOTENCY_KEY_BYTES_MAX = 512;
export const PREPARATION_LEASE_MS = 60_000;
export const OPEN_JOBS_PER_ACCOUNT_MAX = 64;
export const DISPATCH_DEADLINE_MS = 600_000;
export const JOB_LEASE_MS = 10_000;
/** The upper bound of the setting for how long a job waits for an upstream. */
export const JOB_MINUTES_MAX = 1_440;
/** How soon, and at the latest how often, an upstream is asked after its work. */
export const POLL_MS = {
  image: { first: 500, most: 5_000 },
  audio: { first: 1_000, most: 10_000 },
  video: { first: 2_000, most: 30_000 },
} as const;
export const POLL_AFTER_MS_MAX = 60_000;
export const JOB_STEPS_AT_ONCE_MAX = 128;
/** Results whose address gives nothing are tried again for this long. */
export const COLLECT_RETRY_MS = 120_000;
/** Results that cannot be stored are tried again for this long, which is how long links to them usually live; some die after ten minutes. */
export const STORAGE_RETRY_MS = 3_600_000;
/** An answer or a result that cannot be used is asked for this often in a row. */
export const UNUSABLE_TRIES_MAX = 3;
/** For one result, from the first look-up to the last byte. */
export const COLLECT_TIMEOUT_MS = 900_000;
/** What was stored for a request that never came to be, or for a job that failed, is cleaned away after this. */
export const UNOWNED_KEPT_MS = 60 * 60_000;
/** What a job was given lies ready for as long as any upstream may still ask for it. */
export const INPUT_KEPT_MS = 24 * 60 * 60 * 1000;
export const LINK_MS = 900_000;
/** Longer than any job is open and its outputs are kept. */
export const FINGERPRINT_KEPT_MS = 31 * 24 * 60 * 60 * 1000;
export const OUTPUT_KEPT_MS = 30 * 24 * 60 * 60 * 1000;

// Transcriptions.
export const TRANSCRIPT_BYTES_MAX = 32 * MIB;
/** From the reservation to the end of all asking after it. */
export const TRANSCRIPTION_MS_MAX = 3_600_000;
export const TRANSCRIPTION_POLL_MS = { first: 1_000, most: 5_000 } as const;
export const TRANSCRIPTIONS_RESUMED_MAX = 64;

// Callers and operators.
export const ADMIN_TOKENS_MAX = 8;
export const ADMIN_TOKEN_CHARS_MIN = 16;
export const LIVE_KEYS_PER_ACCOUNT_MAX = 50;
/** How long a key may still be used beside the one that replaces it. */
export const KEY_OVERLAP_SECONDS_MAX = 7 * 24 * 3_600;
export const NAME_CHARS_MAX = 200;
export const GROUPS_MAX = 50;
export const RPM_MAX = 1_000_000;
export const CONCURRENCY_MAX = 100_000;
export const PUBLIC_LIST_RPM_PER_IP = 60;
export const MODEL_ID_CHARS_MAX = 200;
export const PAGE_SIZE_DEFAULT = 20;
export const PAGE_SIZE_MAX = 100;
/** Prices that are compared in one answer. */
export const COMPARED_CALLS_MAX = 1_000;
export const USAGE_ROWS_DEFAULT = 1_000;
export const USAGE_ROWS_MAX = 10_000;

// Caches and tables in memory.
export const CALLER_CACHE_ENTRIES_MAX = 50_000;
export const BUCKETS_MAX = 200_000;
export const MODEL_LISTS_CACHED_MAX = 200;

// Waits.
/** Upper bounds of the settings for a stop. */
export const STOP_DELAY_SECONDS_MAX = 600;
export const DRAIN_SECONDS_MAX = 3_600;
export const HEALTH_PROBE_TIMEOUT_MS = 1_000;
export const HEALTH_CACHE_MS = 1_000;
export const HEARTBEAT_EVERY_MS = 500;
/** A process that has not heard its own heart for this long trusts nothing it has cached. */
export const CACHE_LEASE_MS = 2_000;
/** After this long a silent process's reservations may be ended by any other process. */
export const RESERVATION_LEASE_MS = 30_000;
/** Peers not seen for this long are dead. */
export const PEER_LEASE_MS = 10_000;

// Limits in Redis.
/** Redis is away when it owes a reply and has sent none for the first; a request waits for the second at most. */
export const REDIS_SILENCE_MS = 500;
export const REDIS_COMMAND_MS = 1_000;
/** How finely these are measured. */
export const REDIS_STEP_MS = 100;
export const REDIS_CONNECT_MS = 2_000;
/** Between attempts to reach Redis again: doubling, each by up to a half shorter or longer. */
export const REDIS_RETRY_MS = { first: 100, most: 2_000 };
/** Redis that goes away again sooner than this after it came back is asked as rarely as before. */
export const REDIS_STEADY_MS = 10_000;
/** A slot whose process does not renew it is free after this. */
export const SLOT_LEASE_MS = 10_000;
/** Slots that were taken or renewed longer ago than this are renewed, as often as this. */
export const SLOT_RENEW_EVERY_MS = 2_500;
/** In one command, and commands sent at once. */
export const SLOTS_PER_RENEWAL_MAX = 500;
export const RENEWALS_AT_ONCE_MAX = 50;

// People who sign in.
export const SESSION_MS_MAX = 30 * 24 * 3_600_000;
export const SESSION_IDLE_MS_MAX = 7 * 24 * 3_600_000;
/** How stale a session's last use may be before it is written again. */
export const SESSION_TOUCH_MS = 60_000;
export const SIGN_IN_LINK_MS = 3_600_000;
export const PASSWORD_LINK_MS = 24 * 3_600_000;
export const INVITATION_MS = 7 * 24 * 3_600_000;
export const SIGN_INS_PER_EMAIL_RPM = 5;
export const SIGN_INS_PER_ADDRESS_RPM = 20;
export const SIGN_INS_RPM = 300;
/** Between the button and the return from an identity provider. */
export const PROVIDER_SIGN_IN_MS = 600_000;
/** Requests to an identity provider: each as a whole, and what it may answer. */
export const PROVIDER_TIMEOUT_MS = 10_000;
export const PROVIDER_ANSWER_BYTES_MAX = 1_048_576;
/** How old what an identity provider says of itself may be. */
export const PROVIDER_METADATA_MS = 3_600_000;
/** Each takes 19 MiB and a thread of the pool for some 30 ms. */
export const PASSWORD_CHECKS_AT_ONCE_MAX = 8;
/** Guesses are counted per address, of IPv6 per network of this many bits: one subscriber has all of it. */
export const ADDRESS_IPV6_BITS = 64;
export const FOLLOWED_LINKS_PER_ADDRESS_RPM = 20;
export const LINK_REQUESTS_PER_EMAIL_RPM = 2;
export const LINK_REQUESTS_PER_ADDRESS_RPM = 5;
/** Another link is mailed to one address after so long. */
export const LINK_REQUEST_MS = 15 * 60_000;
export const SIGN_UP_LINK_MS = 24 * 3_600_000;
export const INVITATIONS_PER_ACCOUNT_RPM = 20;
/** In credits. */
export const SIGN_UP_CREDITS_MAX = 1_000_000;
export const PASSWORD_CHARS_MIN = 10;
export const PASSWORD_CHARS_MAX = 256;
export const EMAIL_CHARS_MAX = 254;
export const FORM_PAGE_BYTES_MAX = 16 * 1024;

// Third-party applications.
/** Authorizations that one address may begin in a minute: each leaves a row behind. */
export const AUTHORIZATIONS_PER_ADDRESS_RPM = 300;
/** Codes of devices that a person may type in a minute. */
export const DEVICE_CODES_RPM = 10;

// Mail.
export const MAILS_WAITING_MAX = 500;
export const MAILS_AT_ONCE_MAX = 4;
export const MAIL_TIMEOUT_MS = 20_000;
/** How long a stop waits for mails under way. */
export const MAIL_DRAIN_MS = 3_000;

/** Series of one metric; what exceeds them is counted in one. */
export const METRIC_SERIES_MAX = 5_000;
/** Gauges that are read from the database are as old as this at most. */
export const GAUGES_CACHE_MS = 10_000;
export const GAUGES_TIMEOUT_MS = 2_000;
/** Of the port for metrics. */
export const METRICS_CONNECTIONS_MAX = 32;

export const SLOW_REQUEST_MS_MAX = 3_600_000;

/** One export of spans or metrics; and how long a stop waits for the last. */
export const SPANS_EXPORT_MS_MAX = 10_000;
export const TRACING_CLOSE_MS_MAX = 2_000;
export const METRICS_PUSH_MS_MIN = 1_000;
