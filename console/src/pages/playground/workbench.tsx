import { useEffect } from 'react';
import type { PlaygroundEndpoint } from '../../api/endpoints.ts';
import type { CatalogueModel } from '../../api/schema.ts';
import { useSignedIn } from '../../api/session.ts';
import { CodeTabs } from '../../kit/copy.tsx';
import { Panel } from '../../kit/page.tsx';
import { samplesOf } from '../../samples/samples.ts';
import { useSay } from '../../text.tsx';
import { type Body, bodyOf, type Draft, lastMessage, missingField } from './draft.ts';
import { fieldsOf } from './fields.ts';
import { Form } from './form.tsx';
import { useHistory } from './history.ts';
import { PastRuns } from './past-runs.tsx';
import { Result } from './result.tsx';
import { type Run, useRun } from './run.ts';

export type SetDraft = (draft: Draft | ((now: Draft) => Draft)) => void;

interface WorkbenchProps {
  readonly model: CatalogueModel;
  readonly endpoint: PlaygroundEndpoint;
  readonly draft: Draft;
  readonly setDraft: SetDraft;
  readonly fill: (endpoint: PlaygroundEndpoint, model: string, body: Body) => void;
}

/** One model on one endpoint: the form, what came of it, the code, and what was run before. */
export function Workbench({ model, endpoint, draft, setDraft, fill }: WorkbenchProps) {
  const say = useSay();
  const { base_url } = useSignedIn();
  const history = useHistory();
  const { run, start, stop } = useRun();
  const fields = fieldsOf(endpoint, model);
  const body = bodyOf(endpoint, model.id, fields, draft);
  // Behind an answered chat nothing is written yet: the call that was answered is the one to copy.
  const sample = endpoint === 'chat' && draft.message.trim() === '' && run !== undefined ? run.call.body : body;
  useConversation(run, setDraft);
  useRemembered(run, history.amend);
  const submit = () => {
    if (missingField(endpoint, fields, draft) !== undefined) return;
    const key = start({ endpoint, body, clip: draft.clip });
    history.remember({ key, at: Math.floor(Date.now() / 1000), endpoint, model: model.id, body });
  };
  return (
    <>
      <div className="halves bench">
        <Form
          endpoint={endpoint}
          fields={fields}
          body={body}
          draft={draft}
          setDraft={setDraft}
          isRunning={run?.state === 'running'}
          submit={submit}
          stop={stop}
        />
        <Panel title={say('playground.result')}>
          <Result
            endpoint={endpoint}
            run={run}
            draft={draft}
            // The same key: a call that arrived after all is found, not made twice.
            again={run === undefined ? undefined : () => start(run.call, run.key)}
            amend={history.amend}
          />
        </Panel>
      </div>
      <Panel title={say('playground.code')}>
        <CodeTabs
          samples={samplesOf({ endpoint, body: sample, fileName: fileNameOf(endpoint, draft), origin: base_url })}
        />
      </Panel>
      <PastRuns
        runs={history.runs}
        clear={history.clear}
        again={(past) => fill(past.endpoint, past.model, past.body)}
      />
    </>
  );
}

function fileNameOf(endpoint: PlaygroundEndpoint, { clip }: Draft): string | undefined {
  return endpoint === 'transcriptions' ? (clip?.name ?? 'speech.mp3') : undefined;
}

/** When an answer of a chat is whole, it becomes part of the conversation. */
function useConversation(run: Run | undefined, setDraft: SetDraft): void {
  const { key, state, call, text } = run ?? {};
  // biome-ignore lint/correctness/useExhaustiveDependencies: once for each run that has been answered.
  useEffect(() => {
    if (state !== 'answered' || call?.endpoint !== 'chat' || text === undefined) return;
    const sent = lastMessage(call.body);
    setDraft((now) => ({
      ...now,
      turns: [...now.turns, { role: 'user', content: sent }, { role: 'assistant', content: text }],
      // What was written on while the answer came is kept.
      message: now.message === sent ? '' : now.message,
    }));
  }, [key, state]);
}

/** What is known of a run in the end goes to the history. */
function useRemembered(run: Run | undefined, amend: ReturnType<typeof useHistory>['amend']): void {
  // biome-ignore lint/correctness/useExhaustiveDependencies: once for each run that has ended.
  useEffect(() => {
    if (run === undefined || run.state === 'running') return;
    const { requestId, credits, job, state } = run;
    amend(run.key, {
      ...(requestId === undefined ? {} : { requestId }),
      ...(credits === undefined ? {} : { credits }),
      ...(job === undefined ? {} : { jobId: job.id }),
      hasFailed: state === 'failed',
    });
  }, [run?.key, run?.state]);
}
