import { parentPort } from 'node:worker_threads';
import { parseSource } from './document.ts';
import type { ParsingOrder, ParsingReport } from './parsing.ts';
import { DocumentError } from './problems.ts';

/** The body of a thread that parses one large configuration after the other. */
parentPort?.on('message', (order: ParsingOrder) => parentPort?.postMessage(reportOf(order)));

function reportOf({ text, vendors }: ParsingOrder): ParsingReport {
  try {
    return { state: 'parsed', document: parseSource(text, vendors).document };
  } catch (error) {
    // Anything else is a defect: it ends the thread, and the request that waits for it fails.
    if (!(error instanceof DocumentError)) throw error;
    return { state: 'refused', problems: error.problems };
  }
}
