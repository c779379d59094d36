/** What beside `books` is made of checks: by the clock, of a whole ledger with every difference, and what the last one found. */
export { type BooksReport, reportBooks } from './book-report.ts';
export { BooksTooLong } from './books.ts';
export { BooksCheck } from './books-check.ts';
export { lastVerdict, type Verdict } from './checkpoints.ts';
