import { api } from './client.ts';
import type { File as StoredFile } from './schema.ts';

/** Keeps a picture, clip or sound for a day. Its link may be given wherever a request takes a URL of media. */
export function uploadFile(file: globalThis.File, signal?: AbortSignal): Promise<StoredFile> {
  const form = new FormData();
  form.append('file', file, file.name);
  return api<StoredFile>('/api/console/run/files', { method: 'POST', body: form, signal });
}
