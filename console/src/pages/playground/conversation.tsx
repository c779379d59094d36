import { Stack, Text } from '@mantine/core';
import { useSay } from '../../text.tsx';
import { lastMessage, type Turn } from './draft.ts';
import type { Run } from './run.ts';

/** What was said so far, and what is being said now. */
export function Conversation({ turns, run }: { readonly turns: readonly Turn[]; readonly run: Run | undefined }) {
  const isOpen = run !== undefined && run.state !== 'answered';
  return (
    <Stack gap="sm" role="log" aria-busy={run?.state === 'running'}>
      {turns.map((turn, index) => (
        // biome-ignore lint/suspicious/noArrayIndexKey: turns are only added at the end.
        <Said key={index} by={turn.role} text={turn.content} />
      ))}
      {isOpen && <Said by="user" text={lastMessage(run.call.body)} />}
      {isOpen && run.state !== 'failed' && <Said by="assistant" text={run.text ?? '…'} />}
      {isOpen && run.state === 'failed' && run.text !== undefined && <Said by="assistant" text={run.text} />}
    </Stack>
  );
}

function Said({ by, text }: { readonly by: Turn['role']; readonly text: string }) {
  const say = useSay();
  return (
    <div className={by === 'user' ? 'said by-user' : 'said'} data-testid={`said-${by}`}>
      <Text size="xs" className="soft">
        {say(`playground.${by}`)}
      </Text>
      <Text style={{ whiteSpace: 'pre-wrap' }}>{text}</Text>
    </div>
  );
}
