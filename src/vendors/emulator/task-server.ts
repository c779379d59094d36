import type { Recorded } from './recording-server.ts';
import { ScriptedServer } from './scripted-server.ts';

/** A vendor of tasks, whose results lie at links. */
export class TaskServer extends ScriptedServer {
  /** How often a task is running before it is done. */
  readsUntilDone = 1;
  areLinksDead = false;

  /** The requests of one kind. */
  sent(method: string, path = /./): Recorded[] {
    return this.requests.filter((request) => request.method === method && path.test(request.path));
  }

  /** The bodies of all submissions, refused ones too. */
  get submissions(): Record<string, unknown>[] {
    return this.sent('POST').map(({ bytes }) => JSON.parse(bytes.toString()));
  }
}
