import { useLocalStorage } from '@mantine/hooks';
import type { PlaygroundEndpoint } from '../../api/endpoints.ts';
import { useSignedIn } from '../../api/session.ts';
import { type Body, lastMessage } from './draft.ts';

/** A call that was made in this browser: enough to make it again, and to find what came of it. */
export interface PastRun {
  readonly key: string;
  /** Unix seconds. */
  readonly at: number;
  readonly endpoint: PlaygroundEndpoint;
  readonly model: string;
  readonly body: Body;
  readonly jobId?: string;
  readonly requestId?: string;
  readonly credits?: number;
  readonly hasFailed?: boolean;
}

const RUNS_MAX = 30;

/** The runs of this browser in this account, newest first. They are stored here and nowhere else. */
export function useHistory() {
  const { account } = useSignedIn();
  const [runs, setRuns] = useLocalStorage<readonly PastRun[]>({
    key: `tollgate-playground-${account?.account_id ?? ''}`,
    defaultValue: [],
    getInitialValueInEffect: false,
  });
  const remember = (run: PastRun) =>
    setRuns((now) => [run, ...now.filter(({ key }) => key !== run.key)].slice(0, RUNS_MAX));
  const amend = (key: string, change: Partial<PastRun>) =>
    setRuns((now) => now.map((run) => (run.key === key ? { ...run, ...change } : run)));
  return { runs, remember, amend, clear: () => setRuns([]) };
}

/** The words of a call, for a list. */
export function wordsOf({ body }: Pick<PastRun, 'body'>): string {
  const words = [lastMessage(body) || undefined, body.prompt, body.input, body.voice_description].find(
    (text) => typeof text === 'string',
  );
  return typeof words === 'string' ? words : '';
}
