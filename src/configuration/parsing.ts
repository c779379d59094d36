import { CONFIG_INLINE_CHARS_MAX, CONFIG_LOCATED_CHARS_MAX } from '../limits.ts';
import { Thread } from '../thread.ts';
import { type ConfigDocument, parseSource, type SourcedDocument } from './document.ts';
import { DocumentError, type DocumentProblem, refuseUnlocated } from './problems.ts';
import type { VendorTerms } from './vendor-terms.ts';

/** What a thread is to parse. */
export interface ParsingOrder {
  readonly text: string;
  readonly vendors: readonly VendorTerms[];
}

export type ParsingReport =
  | { readonly state: 'parsed'; readonly document: ConfigDocument }
  | { readonly state: 'refused'; readonly problems: readonly DocumentProblem[] };

/**
 * As `parseSource`, without holding up other requests: a large text takes seconds, so a thread parses it, which is there
 * only while there are such texts. What is found out about a very large one later has paths and no lines.
 */
export async function parseSourceAsync(text: string, vendors: readonly VendorTerms[]): Promise<SourcedDocument> {
  if (text.length <= CONFIG_INLINE_CHARS_MAX) return parseSource(text, vendors);
  const report = await parsing.take({ text, vendors: vendors.map(plainTerms) });
  if (report.state === 'refused') throw new DocumentError(report.problems);
  const isLocated = text.length <= CONFIG_LOCATED_CHARS_MAX;
  return { document: report.document, refuse: isLocated ? refuseLocated(text, vendors) : refuseUnlocated };
}

/** What has lines cannot be sent by a thread: they are made again where they are needed. */
function refuseLocated(text: string, vendors: readonly VendorTerms[]): SourcedDocument['refuse'] {
  return (findings) => {
    if (findings.length > 0) parseSource(text, vendors).refuse(findings);
  };
}

/** Of dialects only the names are needed; what they hold cannot be sent to a thread. */
function plainTerms({ name, address, apiKey, dialects, credentials = {}, missing }: VendorTerms): VendorTerms {
  const names = Object.fromEntries(Object.keys(dialects ?? {}).map((dialect) => [dialect, true]));
  return { name, address, apiKey, dialects: names, credentials, ...(missing === undefined ? {} : { missing }) };
}

/** One text after the other: the reports of a thread come in the order of what it was given. */
class Parsing {
  #thread: Thread<ParsingOrder, ParsingReport> | undefined;
  readonly #waiting: PromiseWithResolvers<ParsingReport>[] = [];

  take(order: ParsingOrder): Promise<ParsingReport> {
    const report = Promise.withResolvers<ParsingReport>();
    this.#waiting.push(report);
    this.#thread ??= this.#start();
    this.#thread.give(order);
    return report.promise;
  }

  #start(): Thread<ParsingOrder, ParsingReport> {
    const onReport = (report: ParsingReport) => {
      this.#waiting.shift()?.resolve(report);
      if (this.#waiting.length === 0) this.#thread?.rest();
    };
    return new Thread(new URL('./parsing-thread.ts', import.meta.url), onReport, (detail) => {
      this.#thread = undefined;
      for (const { reject } of this.#waiting.splice(0)) reject(new Error(detail));
    });
  }
}

const parsing = new Parsing();
