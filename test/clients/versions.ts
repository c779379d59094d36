/** A program or library of others that is run against the gateway, with the exact versions that are installed for it. */
export interface ClientProgram {
  /** Of its test, test/clients/NAME.test.ts, and of the folder that it is installed in. */
  readonly name: string;
  /** As the table in docs/clients.md has it. */
  readonly title: string;
  readonly from: 'npm' | 'pip';
  /** By their names in the registry. The version of the first is the one that the table shows. */
  readonly packages: Readonly<Record<string, string>>;
  /** Which of them, for npm, must run a script of their own when they are installed. */
  readonly installScripts?: readonly string[];
}

/** In the order of the table. */
export const CLIENT_PROGRAMS: readonly ClientProgram[] = [
  { name: 'openai-js', title: 'openai (JavaScript)', from: 'npm', packages: { openai: '7.55.0' } },
];

export function clientProgram(name: string): ClientProgram {
  const program = CLIENT_PROGRAMS.find((each) => each.name === name);
  if (program === undefined) throw new Error(`There is no client program "${name}" in test/clients/versions.ts.`);
  return program;
}

/** The version of its first package. */
export function versionOf({ packages }: ClientProgram): string {
  return Object.values(packages)[0] ?? '';
}
