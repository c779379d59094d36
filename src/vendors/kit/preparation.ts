import { UpstreamError } from '../../errors.ts';

/**
 * A call that only prepares the one that is paid for, such as an upload. Without an answer to it nothing was accepted, so its
 * fault is certain and another upstream may be asked.
 */
export async function beforeSubmission<Result>(step: string, run: () => Promise<Result>): Promise<Result> {
  try {
    return await run();
  } catch (error) {
    if (!(error instanceof UpstreamError)) throw error;
    const { fault, message, retryAfterMs } = error;
    throw new UpstreamError(fault, `${step}: ${message}`, { retryAfterMs, isUncertain: false, cause: error });
  }
}
