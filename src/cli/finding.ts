/** What one check found, in words. */
export interface Finding {
  readonly check: string;
  readonly state: 'ok' | 'warning' | 'problem';
  readonly text: string;
  /** What to do about it. */
  readonly advice?: string;
}

export function ok(check: string, text: string): Finding {
  return { check, state: 'ok', text };
}

export function warning(check: string, text: string, advice: string): Finding {
  return { check, state: 'warning', text, advice };
}

export function problem(check: string, text: string, advice: string): Finding {
  return { check, state: 'problem', text, advice };
}

export function reasonOf(error: unknown): string {
  // A name with several addresses fails with several errors and no message of its own.
  if (error instanceof AggregateError) return error.errors.map(reasonOf).join('; ');
  return error instanceof Error ? error.message : String(error);
}
