/** The longest that an answer of /healthz may take while anything else goes on. */
export const STALL_MS_MAX = 250;

/** What is told of the event loop: a turn that took this much processor time. */
export const BLOCKED_MS = 100;
