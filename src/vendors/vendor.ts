/** A foreign wire format, and what an upstream that speaks it must be given. */
export interface Vendor {
  /** For configuration and logs; never sent to a caller. */
  readonly name: string;
  /** With the version segment, the bare origin, or none because it runs inside this process. */
  readonly address: 'versioned' | 'origin' | 'none';
  readonly apiKey: 'required' | 'optional' | 'none';
}
