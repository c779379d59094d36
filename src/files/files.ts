import { type Actor, recordChange } from '../audit/index.ts';
import { ApiError } from '../errors.ts';
import { releaseObject } from '../objects/index.ts';
import { type FileDeps, linkTo } from './keep-file.ts';
import { deleteFileRow, type FilePage, type LinkedFile, selectFile, selectFiles } from './store.ts';

/** What an account keeps, newest first, each with a link that works as long as the file is kept. */
export async function listFiles(deps: FileDeps, accountId: string, page: FilePage): Promise<LinkedFile[]> {
  const files = await selectFiles(deps.db, accountId, page, deps.clock.now());
  return Promise.all(files.map(async (file) => ({ ...file, url: await linkTo(deps, file) })));
}

/** With a link that works as long as it is kept. Throws `file_not_found`, alike for another account's. */
export async function getFile(deps: FileDeps, accountId: string, id: string): Promise<LinkedFile> {
  const file = await selectFile(deps.db, accountId, id, deps.clock.now());
  if (file === undefined) throw new ApiError('file_not_found');
  return { ...file, url: await linkTo(deps, file) };
}

/** Of a file whose bytes are wanted here. Throws `file_not_found` as `getFile` does, and `file_too_large`. */
export async function readFile(deps: FileDeps, file: LinkedFile, bytesMax: number): Promise<Buffer> {
  if (file.bytes > bytesMax) throw new ApiError('file_too_large');
  const found = await deps.objects.read(file.objectKey);
  // The row may outlive its object for a moment.
  if (found === undefined) throw new ApiError('file_not_found');
  return Buffer.concat(await Array.fromAsync(found.body));
}

/** Throws `file_not_found`, alike for another account's. What a job was given stays for as long as the job keeps it. */
export async function deleteFile({ db, clock }: FileDeps, by: Actor, accountId: string, id: string): Promise<void> {
  const now = clock.now();
  await db.transaction(async (tx) => {
    const file = await deleteFileRow(tx, accountId, id, now);
    if (file === undefined) throw new ApiError('file_not_found');
    await releaseObject(tx, file.objectKey, file.expiresAt, now);
    await recordChange(tx, by, { at: now, action: 'file.delete', target: id, detail: { account: accountId } });
  });
}
