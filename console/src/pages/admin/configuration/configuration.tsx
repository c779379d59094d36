import { Button, Group, Stack, Text } from '@mantine/core';
import { useDebouncedValue } from '@mantine/hooks';
import { useBlocker } from '@tanstack/react-router';
import { lazy, Suspense, useMemo, useRef, useState } from 'react';
import type { ConfigCheck } from '../../../api/schema.ts';
import { useMayOperate } from '../../../api/session.ts';
import { Notice } from '../../../kit/notice.tsx';
import { Panel } from '../../../kit/page.tsx';
import { Loaded, Problem } from '../../../kit/states.tsx';
import { useSay } from '../../../text.tsx';
import { type Applied, useCheck, useDocumentSchema, useYaml } from './config-api.ts';
import type { EditorHandle } from './editor.tsx';
import { ConfigurationLayout } from './layout.tsx';
import { Problems } from './problems.tsx';
import { Review } from './review.tsx';

const Editor = lazy(async () => ({ default: (await import('./editor.tsx')).Editor }));
const CHECK_AFTER_MS = 500;

/** The document that says what is sold and by whom it is served, to be changed with care. */
export function Configuration() {
  const yaml = useYaml();
  return (
    <ConfigurationLayout shown="document">
      <Loaded query={yaml} lines={6}>
        {(inForce) => <Document inForce={inForce} />}
      </Loaded>
    </ConfigurationLayout>
  );
}

function Document({ inForce }: { readonly inForce: string }) {
  const say = useSay();
  const mayChange = useMayOperate();
  const [draft, setDraft] = useState<string>();
  const [isReviewing, setReviewing] = useState(false);
  const [applied, setApplied] = useState<Applied>();
  const handle = useRef<EditorHandle>(null);
  const text = draft ?? inForce;
  const isChanged = text !== inForce;
  const [settled] = useDebouncedValue(text, CHECK_AFTER_MS);
  const check = useCheck(settled, mayChange && isChanged);
  const problems = useMemo(() => (isChanged ? problemsOf(check.data) : []), [isChanged, check.data]);
  useUnsavedGuard(isChanged);
  const schema = useDocumentSchema();
  const isReady = isChanged && settled === text && !check.isPlaceholderData && check.data?.valid === true;
  const edit = (next: string) => {
    setDraft(next);
    setApplied(undefined);
    setReviewing(false);
  };
  const finish = (answer: Applied) => {
    setDraft(undefined);
    setReviewing(false);
    setApplied(answer);
  };
  return (
    <Stack gap="md">
      {applied !== undefined && (
        <Notice tone="good">{say('configuration.applied', { version: applied.version })}</Notice>
      )}
      <Suspense fallback={<div className="editor" />}>
        <Editor
          label={say('configuration.editor')}
          text={text}
          change={edit}
          schema={schema.data}
          problems={problems}
          isReadOnly={!mayChange}
          handle={handle}
        />
      </Suspense>
      <Text size="xs" className="soft">
        {say(mayChange ? 'configuration.hint' : 'configuration.readOnly')}
      </Text>
      {check.error !== null && isChanged && <Problem error={check.error} retry={() => void check.refetch()} />}
      {problems.length > 0 && <Problems problems={problems} goTo={(line) => handle.current?.goTo(line)} />}
      {mayChange && (
        <Group>
          <Button disabled={!isReady || isReviewing} onClick={() => setReviewing(true)}>
            {say('configuration.review')}
          </Button>
          <Button variant="default" disabled={!isChanged} onClick={() => edit(inForce)}>
            {say('configuration.discard')}
          </Button>
          <Text size="sm" className="soft" role="status">
            {say(statusOf(isChanged, isReady, problems.length))}
          </Text>
        </Group>
      )}
      {isReviewing && check.data !== undefined && (
        <Panel title={say('configuration.reviewTitle')}>
          <Review before={inForce} after={text} check={check.data} done={finish} />
        </Panel>
      )}
    </Stack>
  );
}

function statusOf(isChanged: boolean, isReady: boolean, problems: number) {
  if (!isChanged) return 'configuration.unchanged';
  if (isReady) return 'configuration.valid';
  return problems > 0 ? 'configuration.invalid' : 'configuration.checking';
}

function problemsOf(check: ConfigCheck | undefined) {
  return (check?.problems ?? []).map(({ line, column, path, problem }) => ({
    line,
    column,
    text: path === '' ? problem : `${path}: ${problem}`,
  }));
}

/** What is not applied is lost with the page: leaving it asks once. */
function useUnsavedGuard(isChanged: boolean): void {
  const say = useSay();
  useBlocker({
    shouldBlockFn: () => isChanged && !window.confirm(say('configuration.leave')),
    enableBeforeUnload: isChanged,
  });
}
