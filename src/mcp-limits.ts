/** Bounds of `/mcp`. */

const MIB = 1024 * 1024;

/** A tool's arguments may hold a picture inline, as the body of an edit may. */
export const MCP_BODY_BYTES_MAX = 12 * MIB;
/** An equal call of a tool is given the job of the first while that is open and younger than this. */
export const MCP_JOIN_MS = 60_000;
export const MCP_LINK_MS = 24 * 60 * 60 * 1000;
export const MCP_PROGRESS_EVERY_SECONDS = 5;
/** Client libraries give a request up after 60 seconds in which they hear nothing. */
export const MCP_SILENT_WAIT_SECONDS = 45;
export const MCP_WAIT_SECONDS_MAX = 120;
/** 700 KB of base64. */
export const MCP_INLINE_IMAGE_BYTES_MAX = 525_000;
export const MCP_INLINE_IMAGE_PIXELS_MAX = 1024;
export const MCP_INLINE_AUDIO_BYTES_MAX = 200_000;
