import { parentPort } from 'node:worker_threads';
import type { Made, Piece, Progress } from './piece.ts';

/** What a studio hears of the piece that it gave to this thread. */
export type Report =
  | { readonly state: 'running'; readonly part: number }
  | { readonly state: 'made'; readonly made: readonly Made[] }
  | { readonly state: 'failed'; readonly detail: string };

/** The body of a thread that makes one piece after another, so that drawing and encoding never block the event loop. */
parentPort?.on('message', (piece: Piece) => {
  const tell = (report: Report) => parentPort?.postMessage(report);
  make(piece, (part) => tell({ state: 'running', part })).then(
    (made) => tell({ state: 'made', made }),
    (error: unknown) =>
      tell({ state: 'failed', detail: error instanceof Error ? (error.stack ?? error.message) : String(error) }),
  );
});

/** Loads only what the kind needs. */
async function make(piece: Piece, progress: Progress): Promise<readonly Made[]> {
  switch (piece.kind) {
    case 'image':
      return (await import('./picture.ts')).makePictures(piece, progress);
    case 'video':
      return (await import('./clip.ts')).makeClip(piece, progress);
    case 'music':
      return (await import('./sound.ts')).makeMusic(piece, progress);
  }
}
