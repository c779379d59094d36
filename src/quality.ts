/** Earlier words for a quality, and today's word for the same. */
const TODAYS_WORD: ReadonlyMap<string, string> = new Map([
  ['standard', 'medium'],
  ['hd', 'high'],
]);

/** One word for one quality: `hd` and `high` are the same. A word that is not known stands for itself. */
export function canonicalQuality(quality: string): string {
  return TODAYS_WORD.get(quality) ?? quality;
}

/**
 * The word under which a model publishes a quality; undefined if it publishes none such. `auto` leaves the choice to the
 * model and can always be asked for. Of two published words for one quality, today's is taken: it is what is sent.
 */
export function publishedQuality(quality: string, published: readonly string[]): string | undefined {
  const canonical = canonicalQuality(quality);
  if (canonical === 'auto' || published.includes(canonical)) return canonical;
  return published.find((word) => canonicalQuality(word) === canonical);
}
