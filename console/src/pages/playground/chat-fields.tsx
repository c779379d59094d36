import { Button, Group, Textarea } from '@mantine/core';
import type { KeyboardEvent } from 'react';
import { useSay } from '../../text.tsx';
import type { Draft } from './draft.ts';
import type { SetDraft } from './workbench.tsx';

interface ChatFieldsProps {
  readonly draft: Draft;
  readonly setDraft: SetDraft;
  readonly submit: () => void;
  readonly isRunning: boolean;
}

/** What the model is told first, and what it is told next. */
export function ChatFields({ draft, setDraft, submit, isRunning }: ChatFieldsProps) {
  const say = useSay();
  const sendOnEnter = (event: KeyboardEvent) => {
    if (event.key !== 'Enter' || event.shiftKey || event.nativeEvent.isComposing || isRunning) return;
    event.preventDefault();
    submit();
  };
  return (
    <>
      <Textarea
        label={say('field.system')}
        value={draft.system}
        onChange={({ currentTarget: { value } }) => setDraft((now) => ({ ...now, system: value }))}
        autosize
        minRows={1}
        maxRows={8}
      />
      <Textarea
        label={say('field.message')}
        description={say('playground.enter')}
        placeholder={draft.turns.length === 0 ? say('playground.example.chat') : ''}
        value={draft.message}
        onChange={({ currentTarget: { value } }) => setDraft((now) => ({ ...now, message: value }))}
        onKeyDown={sendOnEnter}
        required
        autosize
        minRows={3}
        maxRows={14}
      />
      {draft.turns.length > 0 && (
        <Group>
          <Button
            variant="default"
            size="compact-sm"
            onClick={() => setDraft((now) => ({ ...now, turns: [] }))}
            disabled={isRunning}
          >
            {say('playground.newChat')}
          </Button>
        </Group>
      )}
    </>
  );
}
