// Measures against a yardstick in the same run and prints ratios. `npm run bench -- models` runs one part.
import { benchChat } from './chat.ts';
import { benchCredits } from './credits.ts';
import { benchJobs } from './jobs.ts';
import { benchLarge } from './large.ts';
import { benchLatency } from './latency.ts';
import { benchLedger } from './ledger.ts';
import { benchMedia } from './media.ts';
import { benchMemory } from './memory.ts';
import { benchModels } from './models.ts';
import { benchSignIn } from './sign-in.ts';
import { benchSpeech } from './speech.ts';
import { printTable, type Row } from './table.ts';
import { benchTranscription } from './transcription.ts';

const PARTS: Readonly<Record<string, () => Promise<Row[]>>> = {
  models: benchModels,
  credits: benchCredits,
  ledger: benchLedger,
  chat: benchChat,
  jobs: benchJobs,
  media: benchMedia,
  latency: benchLatency,
  speech: benchSpeech,
  transcription: benchTranscription,
  memory: benchMemory,
  large: benchLarge,
  'sign-in': benchSignIn,
};

const asked = process.argv.slice(2);
const unknown = asked.filter((name) => !Object.hasOwn(PARTS, name));
if (unknown.length > 0) {
  console.error(`No such part: ${unknown.join(', ')}. There are: ${Object.keys(PARTS).join(', ')}.`);
  process.exit(2);
}
const rows: Row[] = [];
for (const [name, run] of Object.entries(PARTS)) {
  if (asked.length > 0 && !asked.includes(name)) continue;
  console.error(`Measuring ${name} …`);
  rows.push(...(await run()));
}
printTable(rows);
