import type { Socket } from 'node:net';
import { READ_BYTES_MAX } from './limits.ts';

/**
 * Makes every read of a socket one of at most READ_BYTES_MAX, and none once it is destroyed. The HTTP client parses each
 * read to its end even after it refused the answer, and makes an error, with its stack, for every header line beyond the
 * limit: a single read of 64 KiB of short lines held the event loop for 115 ms.
 */
export function boundReads<S extends Socket>(socket: S): S {
  const read = socket.read.bind(socket);
  socket.read = (size) => {
    if (socket.destroyed) return null;
    return read(size ?? (socket.readableLength > READ_BYTES_MAX ? READ_BYTES_MAX : undefined));
  };
  return socket;
}
