/** The bounds of media, which `limits.ts` names with all others. */

const KIB = 1024;
const MIB = 1024 * KIB;

// Media.
export const IMAGE_BYTES_MAX = 25 * MIB;
/** One reference video or audio. */
export const CLIP_BYTES_MAX = 100 * MIB;
export const IMAGE_PIXELS_MAX = 100_000_000;
export const IMAGE_SIDE_PIXELS_MAX = 16_384;
export const REFERENCES_MAX = 16;
export const IMAGES_PER_REQUEST_MAX = 10;
export const CLIPS_PER_REQUEST_MAX = 8;
export const SPOKEN_CHARS_MAX = 40_000;
export const SECONDS_MAX = 24 * 60 * 60;
export const VOICE_SAMPLE_BASE64_CHARS_MAX = 10 * MIB;
/** What that much base64 holds. */
export const VOICE_SAMPLE_BYTES_MAX = (VOICE_SAMPLE_BASE64_CHARS_MAX / 4) * 3;
/** One clip of speech; an upstream that sends more is cut off. */
export const SPEECH_BYTES_MAX = 1024 * MIB;
/** Of a clip that is passed on, so much is held in memory; what is longer is in a file. */
export const SPOOL_HELD_BYTES_MAX = 256 * KIB;
/** All clips that an answer holds as base64. */
export const SPEECH_INLINE_BYTES_MAX = 32 * MIB;
export const URL_CHARS_MAX = 16 * KIB;
export const IMAGE_JSON_BYTES_MAX = 10 * MIB;
export const IMAGE_MULTIPART_BYTES_MAX = 100 * MIB;
export const VIDEO_BODY_BYTES_MAX = 24 * MIB;
export const AUDIO_JSON_BYTES_MAX = 12 * MIB;
export const TRANSCRIPTION_FILE_BYTES_MAX = 100 * MIB;
export const TRANSCRIPTION_MULTIPART_BYTES_MAX = 120 * MIB;
export const TRANSCRIPTION_JSON_BYTES_MAX = 4 * MIB;
export const FORM_FIELD_BYTES_MAX = 64 * KIB;
export const FORM_PARTS_MAX = 64;
/** A form that is announced to be no larger is read when it has come; larger ones while they come. */
export const FORM_HELD_BYTES_MAX = 2 * MIB + 64 * KIB;
export const PASSTHROUGH_BYTES_MAX = 64 * KIB;
export const PASSTHROUGH_DEPTH_MAX = 16;
/** An input that is read once and soon is held in memory if it is no larger, and if no more than so many are. */
export const BUFFERED_INPUT_BYTES_MAX = 2 * MIB;
export const BUFFERED_INPUTS_MAX = 32;
/** What is larger is sent to an upstream as an address, where it has one. */
export const INLINE_MEDIA_BYTES_MAX = 5 * MIB;
/** What one job may bring back in one piece. */
export const OUTPUT_BYTES_MAX = 2048 * MIB;
/** How much of a file its kind is told from. */
export const SNIFF_BYTES = 4 * KIB;
/** Media is read in pieces of this size, which double while they follow each other. */
export const MEDIA_READ_BYTES_MIN = 64 * KIB;
export const MEDIA_READ_BYTES_MAX = MIB;
/** Beside one read for every MEDIA_READ_BYTES_MIN / 2 of the file. */
export const MEDIA_EXTRA_READS_MAX = 16;
/** Boxes, chunks, pages and blocks of one file. */
export const MEDIA_PARTS_MAX = 5_000_000;
export const MEDIA_TRACKS_MAX = 64;
export const MEDIA_EDITS_MAX = 10_000;
export const MEDIA_SECONDS_MAX = 24 * 60 * 60;
/** By how much more sound than its clock says a file is charged by its clock: both a second and a share of it. */
export const MEDIA_FILLED_SECONDS_MAX = 1;
export const MEDIA_FILLED_SHARE_MAX = 0.05;
/** Sound that states another rate, or media of fewer bytes for each second, says of itself what cannot be. */
export const SAMPLE_RATE_MIN = 4_000;
export const SAMPLE_RATE_MAX = 768_000;
/** Less than any codec makes of a second of silence, by the type of a file. */
export const MEDIA_BYTES_PER_SECOND_MIN: Readonly<Record<string, number>> = {
  'audio/wav': 250,
  'audio/mpeg': 900,
  'audio/aac': 20,
  other: 16,
};
/** Chunks of data in one WAV; there is one. */
export const MEDIA_DATA_CHUNKS_MAX = 1_000;
/** Above this, media is measured in a thread of its own. */
export const MEDIA_THREAD_BYTES_MIN = MIB;
/** What stands before the packets of a track of sound; Vorbis needs a few KiB. */
export const MEDIA_CODEC_BYTES_MAX = 256 * KIB;
/** In one run of a fragment of MP4; hours of sound. */
export const MEDIA_RUN_PACKETS_MAX = 1_000_000;
/** What is passed over between two frames of sound that have no container. */
export const MEDIA_JUNK_BYTES_MAX = 64 * KIB;
export const MEDIA_GAPS_MAX = 1_000;

// Stored media.
export const OBJECT_KEY_CHARS_MAX = 200;
export const OBJECT_READ_BYTES = 256 * KIB;
/** What a killed process left half written is removed by a start after this long. */
export const UNFINISHED_OBJECT_KEPT_MS = 3_600_000;
/** The smallest that S3 allows; with ten thousand parts it is still more than any output. */
export const S3_PART_BYTES = 5 * MIB;
export const S3_CONNECTIONS_MAX = 128;
export const S3_CONNECT_TIMEOUT_MS = 5_000;
export const S3_IDLE_TIMEOUT_MS = 60_000;
export const S3_LINK_SECONDS_MAX = 604_800;
export const S3_CREDENTIALS_KEPT_MAX = 8;
