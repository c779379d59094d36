/** A document of the site, and where it lies below docs/. */
export interface SiteDocument {
  readonly slug: string;
  readonly file: string;
  /** What it is for, in the list and in llms.txt. */
  readonly purpose: string;
}

interface Chapter {
  readonly title: string;
  readonly documents: readonly SiteDocument[];
}

function guide(slug: string, purpose: string): SiteDocument {
  return { slug, file: `guides/${slug}.md`, purpose };
}

function document(slug: string, purpose: string): SiteDocument {
  return { slug, file: `${slug}.md`, purpose };
}

/** The documents that the gateway serves, in the order of the menu. */
export const CHAPTERS: readonly Chapter[] = [
  {
    title: 'Use it',
    documents: [
      guide('first-call', 'A key, a first answer, and the client library you already have'),
      guide('media-jobs', 'Pictures, clips and music: create, wait, fetch, and what a retry does'),
      guide('streaming', 'Chat as it is written: frames, usage, errors after the first byte'),
      guide('money', 'Prices, what is reserved and charged, limits, receipts'),
      document('clients', 'The exact setting of every common client program and library'),
      document('cli', 'The command line: work, money, operators, exit codes'),
      document('mcp', 'Media as tools for agents'),
      document('oauth', 'Apps that act for people: registration, consent, tokens'),
      document('tour', 'Every kind of work as commands to paste'),
    ],
  },
  {
    title: 'Move to it',
    documents: [
      guide('from-litellm', 'What of a LiteLLM proxy maps to what'),
      guide('from-new-api', 'What of new-api and one-api maps to what'),
      guide('from-openrouter', 'What of OpenRouter maps to what'),
      guide('from-fal', 'What of fal maps to what'),
      guide('from-replicate', 'What of Replicate maps to what'),
    ],
  },
  {
    title: 'Run it',
    documents: [
      document('operating', 'The operator’s manual: deployment, failures, runbooks, upgrades'),
      document('settings', 'Every setting with its default'),
      document('people', 'Who signs in: operators, sign-up, mail, an identity provider'),
      document('adding-a-vendor', 'A new upstream format, step by step'),
    ],
  },
  { title: 'Look up', documents: [document('errors', 'Every error code, and its own page with cause and cure')] },
];

export const DOCUMENTS: readonly SiteDocument[] = CHAPTERS.flatMap(({ documents }) => documents);
