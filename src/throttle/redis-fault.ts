/** Redis did not answer, or answered that it cannot. The message has no secret and is for the log. */
export class RedisFault extends Error {
  readonly isTimeout: boolean;

  constructor(message: string, isTimeout = false) {
    super(message);
    this.isTimeout = isTimeout;
  }

  /** The address is wrong, not the server: its password, its rights or its database. */
  get isRefusal(): boolean {
    return /\b(?:WRONGPASS|NOAUTH|NOPERM|invalid password|without any password|DB index)\b/.test(this.message);
  }
}

export function asRedisFault(error: unknown): RedisFault {
  if (error instanceof RedisFault) return error;
  return new RedisFault(error instanceof Error ? error.message : String(error));
}
