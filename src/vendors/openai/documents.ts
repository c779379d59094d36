import { UpstreamError } from '../../errors.ts';
import { readJson, type UpstreamReply } from '../kit/http.ts';
import { throwIfError } from './faults.ts';

/** Some servers answer with a document under status 200 when what was asked for went wrong. */
export async function refuseDocument(reply: UpstreamReply, isWanted: (type: string) => boolean): Promise<void> {
  const type = String(reply.headers['content-type'] ?? '');
  if (type === '' || isWanted(type)) return;
  if (type.includes('json')) throwIfError(await readJson(reply));
  // Whoever stops reading lets the connection go.
  else for await (const _piece of reply.body) break;
  throw new UpstreamError('garbled', `something else was asked for and ${type} came`);
}
