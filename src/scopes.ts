export const SCOPES = [
  'user:inference:image',
  'user:inference:video',
  'user:inference:audio',
  'user:inference:chat',
  'user:jobs',
  'user:files',
  'user:credits',
] as const;

/** What an app may be allowed to do with an account. */
export type Scope = (typeof SCOPES)[number];

/** In plain words, for the person who is asked to allow it. */
export const SCOPE_WORDS: Readonly<Record<Scope, string>> = {
  'user:inference:image': 'Make and edit images with this account’s credits',
  'user:inference:video': 'Make videos with this account’s credits',
  'user:inference:audio': 'Make speech and music and transcribe recordings with this account’s credits',
  'user:inference:chat': 'Chat with text models, and turn text into vectors, with this account’s credits',
  'user:jobs': 'See this account’s jobs, their results and saved transcriptions',
  'user:files': 'Upload files to this account',
  'user:credits': 'See this account’s balance, usage and requests',
};
