// Measures against a yardstick in the same run and prints one table with goals. Linux alone: processor time is read in /proc.
//   npm run bench                                  everything
//   npm run bench -- chat latency                  some parts
//   npm run bench -- chat --tree ../before         the gateway of another checkout, with its packages installed, as the subject
//   npm run bench -- chat --node-options='--cpu-prof --cpu-prof-dir=profiles'
// For figures before and after a change: `git worktree add ../before COMMIT`, `npm ci` there, then both commands within the
// hour. `ledger`, and of `media` the memory of puts, measure modules and not the program: always those of this checkout.
// The load comes from wrk where that is installed (Debian: wrk), else from Node, which competes with what is measured.
import { spawnSync } from 'node:child_process';
import { cpus } from 'node:os';
import { resolve } from 'node:path';
import { fileURLToPath } from 'node:url';
import { parseArgs } from 'node:util';
import { benchChat } from './chat.ts';
import { benchCredits } from './credits.ts';
import { benchEmbeddings } from './embeddings.ts';
import type { Subject } from './gateway.ts';
import { withInterference } from './interference.ts';
import { benchJobs } from './jobs.ts';
import { benchLarge } from './large.ts';
import { benchLatency } from './latency.ts';
import { benchLedger } from './ledger.ts';
import { benchLimits } from './limits.ts';
import { benchMedia } from './media.ts';
import { benchMemory } from './memory.ts';
import { benchMessages } from './messages.ts';
import { benchModels } from './models.ts';
import { benchResponses } from './responses.ts';
import { benchProcesses } from './scale.ts';
import { benchSignIn } from './sign-in.ts';
import { benchSignals } from './signals.ts';
import { benchSpeech } from './speech.ts';
import { benchStart } from './start.ts';
import { printTable, type Row } from './table.ts';
import { benchTranscription } from './transcription.ts';

const PARTS: Readonly<Record<string, (subject: Subject) => Promise<Row[]>>> = {
  models: benchModels,
  credits: benchCredits,
  ledger: benchLedger,
  limits: benchLimits,
  chat: benchChat,
  messages: benchMessages,
  responses: benchResponses,
  embeddings: benchEmbeddings,
  jobs: benchJobs,
  media: benchMedia,
  latency: benchLatency,
  speech: benchSpeech,
  transcription: benchTranscription,
  processes: benchProcesses,
  start: benchStart,
  memory: benchMemory,
  large: benchLarge,
  'sign-in': benchSignIn,
  signals: benchSignals,
};

const { values, positionals: names } = parseArgs({
  allowPositionals: true,
  options: {
    tree: { type: 'string', default: fileURLToPath(new URL('../..', import.meta.url)) },
    'node-options': { type: 'string', default: '' },
  },
});
const unknown = names.filter((name) => !Object.hasOwn(PARTS, name));
if (unknown.length > 0) {
  console.error(`No such part: ${unknown.join(', ')}. There are: ${Object.keys(PARTS).join(', ')}.`);
  process.exit(2);
}
if (process.platform !== 'linux') {
  console.error('Processor time is read in /proc, which only Linux has.');
  process.exit(2);
}
// Servers are ended on exit; a signal alone would leave them.
for (const signal of ['SIGINT', 'SIGTERM', 'SIGHUP'] as const) process.on(signal, () => process.exit(1));
const subject: Subject = { tree: resolve(values.tree), nodeOptions: values['node-options'] };
const rows: Row[] = [];
for (const [name, run] of Object.entries(PARTS)) {
  if (names.length > 0 && !names.includes(name)) continue;
  console.error(`Measuring ${name} …`);
  rows.push(...(await withInterference(name, () => run(subject))));
}
const { stdout: commit } = spawnSync('git', ['describe', '--always', '--dirty'], {
  cwd: subject.tree,
  encoding: 'utf8',
});
const [processor] = cpus();
console.log(`Tollgate ${commit.trim()}, Node ${process.version}, ${cpus().length} × ${processor?.model}:\n`);
printTable(rows);
