import type { Command } from '../command.ts';
import { JSON_OPTION } from './options.ts';

/** Commands that work on a deployment by its settings: its database, data folder and secrets. Each loads when it runs. */
export const DEPLOYMENT_COMMANDS: readonly Command[] = [
  {
    name: 'serve',
    operands: [],
    options: { processes: { value: 'N', summary: 'so many processes on one port, 1 to 64; 1 is the default' } },
    summary: 'start the gateway (also without a command)',
    details: `Starts the gateway and stays until it is stopped. SIGTERM or Ctrl-C ends it in order: it is unready for
TOLLGATE_STOP_DELAY_SECONDS, running requests get TOLLGATE_DRAIN_SECONDS, then the database is stopped; a second
signal does not wait. SIGHUP applies the configuration file again. The log goes to standard output, one JSON object
per line. With --processes a supervisor shares one port among them and starts again what ends.`,
    run: async (invocation) => (await import('../serve.ts')).runServer(invocation),
  },
  {
    name: 'migrate',
    operands: [],
    options: { plan: { summary: 'only say what it would do' }, ...JSON_OPTION },
    summary: 'bring the schema up to this release',
    details: `Applies the migrations of this release that the database lacks, one transaction each. Processes of the
release before go on meanwhile. With TOLLGATE_MIGRATE=off the gateway itself never does it, and this command must come
first. May be repeated, and run from several places at once.`,
    run: async (invocation) => (await import('../migrate.ts')).runMigrate(invocation),
  },
  {
    name: 'config check',
    operands: ['FILE'],
    options: JSON_OPTION,
    summary: 'say everything that is wrong with a configuration',
    details: `Reads FILE as a configuration and says everything that is wrong with it. Needs neither a gateway nor a
database.`,
    run: async (invocation) => (await import('../config.ts')).checkFile(invocation),
  },
  {
    name: 'config diff',
    operands: ['FILE', '[OTHER]'],
    options: {
      url: { value: 'URL', summary: 'ask the gateway there, with the first token of TOLLGATE_ADMIN_TOKEN' },
      ...JSON_OPTION,
    },
    summary: 'what FILE would change in the deployment, or against OTHER',
    details: `Shows what applying FILE would change, one line each and without any key. It is compared with what is in
force in the deployment of these settings (DATABASE_URL, else the data folder), whether its gateway runs
or not; with --url in the gateway at that address; with OTHER as that file says.`,
    run: async (invocation) => (await import('../config.ts')).diffFile(invocation),
  },
  {
    name: 'prices import',
    operands: ['FILE'],
    options: {
      margin: { value: 'PERCENT', summary: 'what is added to the prices of FILE, such as 20%' },
      'credit-usd': { value: 'USD', summary: 'what one credit is worth; 0.001 unless set' },
      models: { value: 'LIST', summary: 'only these, as ID,ID=ROW; all unless set' },
      known: { summary: 'leave alone models that FILE does not have' },
      config: { value: 'YAML', summary: 'TOLLGATE_CONFIG or tollgate.yaml unless set' },
      write: { summary: 'change the configuration, not only show what would change' },
      ...JSON_OPTION,
    },
    summary: 'prices of a configuration from a public price list',
    details: `Reads FILE, which is model_prices_and_context_window.json of LiteLLM or api.json of models.dev, and shows as a diff what
its prices make of the configuration: pricing.credits of every model, with a margin, and what of token_tiers and the
reference prices in USD follows. A route finds its row by the vendor of its upstream and the name of its model there; of
several routes the dearest counts. Rates are exact and rounded up to the micro-credit. Comments and layout stay.

Where a row or a price is missing or makes no sense, all of it is told and nothing is written. Needs neither a gateway nor
a database, and reaches no network.`,
    run: async (invocation) => (await import('../prices/import.ts')).importPrices(invocation),
  },
  {
    name: 'admin create',
    operands: ['EMAIL'],
    options: JSON_OPTION,
    summary: 'make an operator, and print the link that sets the password',
    details: `Makes a person who may run this deployment, or gives that role to a person of this email. Prints a link
that works once, for a day, and sets the password. Repeating it prints a new link and ends the old one.`,
    run: async (invocation) => (await import('../admin.ts')).createOperator(invocation),
  },
  {
    name: 'secrets reseal',
    operands: [],
    options: JSON_OPTION,
    summary: 'seal stored upstream secrets with the present TOLLGATE_SECRET',
    details: `Opens every stored upstream secret with TOLLGATE_SECRET or TOLLGATE_SECRET_PREVIOUS and seals it with the
first. Gateways that were started with both go on meanwhile. May be broken off and repeated.

When it is done, TOLLGATE_SECRET_PREVIOUS is needed only for links to media that the old secret signed.`,
    run: async (invocation) => (await import('../secrets.ts')).reseal(invocation),
  },
  {
    name: 'backup',
    operands: ['FILE'],
    options: JSON_OPTION,
    summary: 'write database, stored media and secrets to one file',
    details: `Writes the deployment of the data folder to FILE, which must not exist: every table as of one moment, the
stored media, the root secret and the admin token. The gateway may run and be busy meanwhile.

FILE opens everything: it is readable for its owner alone (mode 0600). Keep it as you keep a password.
With DATABASE_URL use PostgreSQL's own tools; docs/operating.md has the recipe.`,
    run: async (invocation) => (await import('../backup.ts')).makeBackup(invocation),
  },
  {
    name: 'restore',
    operands: ['FILE'],
    options: JSON_OPTION,
    summary: 'make an empty data folder the deployment of a backup',
    details: `Fills the data folder (TOLLGATE_DATA), which must be absent or empty, from a backup. FILE is checked from end
to end before anything is written. A restore that is broken off leaves a folder that no gateway starts on.

Do not run the old deployment and the new one at once: both would go on with the same jobs.`,
    run: async (invocation) => (await import('../restore.ts')).restoreBackup(invocation),
  },
  {
    name: 'books verify',
    operands: [],
    options: JSON_OPTION,
    summary: 'recompute every figure of money from all entries ever made',
    details: `Reads every entry of the ledger and compares each balance, grant, reservation, key limit, job and transcription
with what follows from them: all of it, from no checkpoint, as of one moment. Prints the figures, and every imbalance
with its account and entries. Writes nothing: it works on a restored copy, a standby, and beside a running gateway.

Ends with 0 when everything balances, 1 when something does not, 2 when the books could not be read.`,
    failureCode: 2,
    run: async (invocation) => (await import('../books.ts')).verifyBooks(invocation),
  },
  {
    name: 'verify',
    operands: [],
    options: {
      kills: { value: 'N', summary: 'faults to inject; 40 unless set' },
      minutes: { value: 'M', summary: 'begin no new round after this long' },
      seed: { value: 'S', summary: 'plays the same plan again; scheduling stays the machine’s' },
      only: { value: 'KINDS', summary: 'of kill,pause,stop,database,redis,disk,clock,upstream' },
      evidence: { value: 'FOLDER', summary: 'where evidence goes if a rule is violated' },
      ...JSON_OPTION,
    },
    summary: 'prove that no fault loses or doubles work or money',
    details: `Starts gateways of this release on a deployment made for the purpose, lets callers work against emulated
upstreams, and kills, pauses and stops the gateways, takes their database and Redis away, fills their disk, moves their
clock, and has upstreams that are slow, break off and lie. After each round a checker compares what callers were told
with entries, jobs, stored media and what upstreams did.

It works in databases of its own, on the server of DATABASE_URL or on an embedded one, and deletes them in the end; with
REDIS_URL limits are shared there. Existing data, stored media and upstreams are not touched.

Ends with 0 when no rule was violated, 1 when one was, with the evidence in a folder, 2 when it could not run.`,
    failureCode: 2,
    run: async (invocation) => (await import('../verify.ts')).runCampaigns(invocation),
  },
  {
    name: 'ledger export',
    operands: ['DAY', 'FILE'],
    options: JSON_OPTION,
    summary: 'write the ledger entries of one day to a file, as CSV in gzip',
    details: `Writes every entry of DAY, of the UTC calendar and written as 2026-11-17, to FILE, which must not exist. The
gateway may run meanwhile. Amounts are credits in exact decimals; the sums of all days are the balances.

With TOLLGATE_LEDGER_EXPORT=1 the gateway itself puts such a file into the object store each day.`,
    run: async (invocation) => (await import('../ledger.ts')).writeDay(invocation),
  },
  {
    name: 'doctor',
    operands: [],
    options: JSON_OPTION,
    summary: 'check everything that the gateway needs, and say what is wrong',
    details: `Checks Node, settings, the configuration file, the data folder, the disk, the database, the clock, Redis, the
object store and every enabled upstream, and says in words what is wrong and what to do. Nothing is sent to an
upstream. The gateway may run or not. Ends with 1 when there is a problem, else with 0.`,
    run: async (invocation) => (await import('../doctor.ts')).examine(invocation),
  },
];
