import assert from 'node:assert/strict';
import { mkdirSync, symlinkSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import type { TestContext } from 'node:test';
import { BARE_ENVIRONMENT } from './environment.ts';
import { ADMIN_TOKEN } from './gateway.ts';
import { commandPreamble, ROOT, runShell } from './manual.ts';
import { workFolder } from './postgres.ts';
import { freePort, ownDatabase, Program } from './program.ts';

const DOCUMENTED_ORIGIN = 'http://127.0.0.1:8787';
const CONFIGURATION = `
upstreams: [{ id: sandbox, vendor: sandbox }]
models:
  - id: sandbox/chat
    modality: chat
    owned_by: tollgate
    endpoints: [chat]
    pricing: { mode: per_token, credits: { input_per_k: 1, output_per_k: 4 } }
    routes: [{ upstream: sandbox, model: chat }]
`;

/** A gateway as docs/operating.md has its reader run one, with an account, a key and a person, and a shell beside it. */
export class ManualDeployment {
  readonly folder: string;
  readonly environment: NodeJS.ProcessEnv;
  readonly program: Program;

  private constructor(folder: string, environment: NodeJS.ProcessEnv, program: Program) {
    this.folder = folder;
    this.environment = environment;
    this.program = program;
  }

  static async start(t: TestContext, settings: Record<string, string> = {}): Promise<ManualDeployment> {
    const folder = workFolder(t);
    writeFileSync(join(folder, 'tollgate.yaml'), CONFIGURATION);
    mkdirSync(join(folder, 'programs'));
    symlinkSync(join(ROOT, 'bin/tollgate.mjs'), join(folder, 'programs/tollgate'));
    const port = await freePort();
    // The commands name the default port; curl is led to the one that this gateway really has.
    writeFileSync(
      join(folder, '.curlrc'),
      `connect-to = "127.0.0.1:8787:127.0.0.1:${port}"\nsilent\nshow-error\nwrite-out = "\\n"\n`,
    );
    const environment = {
      ...BARE_ENVIRONMENT,
      ...(await ownDatabase(t)),
      PATH: `${join(folder, 'programs')}:${process.env.PATH}`,
      HOME: folder,
      PORT: String(port),
      PUBLIC_URL: DOCUMENTED_ORIGIN,
      TOLLGATE_DATA: join(folder, 'data'),
      TOLLGATE_CONFIG: join(folder, 'tollgate.yaml'),
      ...settings,
    };
    const deployment = new ManualDeployment(folder, environment, await Program.start(t, environment));
    await deployment.#addAccount();
    return deployment;
  }

  /** What the commands print, after those which every section begins with. Fails where one of them does. */
  async run(commands: string): Promise<string> {
    const { output, code } = await runShell(`${commandPreamble()}\n${commands}`, {
      cwd: this.folder,
      env: this.environment,
    });
    assert.equal(code, 0, output);
    return output;
  }

  async #addAccount(): Promise<void> {
    const admin = (path: string, body: object) =>
      this.program.call('POST', `/api/admin${path}`, { key: ADMIN_TOKEN, body });
    const owner = { email: 'ada@example.com', password: 'the password of ada' };
    const { json: account } = await admin('/accounts', { name: 'demo', ...owner });
    await admin(`/accounts/${account.id}/grants`, { credits: 100 });
    await admin(`/accounts/${account.id}/keys`, { name: 'first' });
  }
}
