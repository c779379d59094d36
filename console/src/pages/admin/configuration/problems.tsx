import { Stack, Text, UnstyledButton } from '@mantine/core';
import { Panel } from '../../../kit/page.tsx';
import { useSay } from '../../../text.tsx';
import type { EditorProblem } from './editor.tsx';

const SHOWN = 20;

interface ProblemsProps {
  readonly problems: readonly EditorProblem[];
  readonly goTo: (line: number) => void;
}

/** Every problem in a line of its own; pressing one leads to its place. */
export function Problems({ problems, goTo }: ProblemsProps) {
  const say = useSay();
  return (
    <Panel title={say('configuration.problems', { count: problems.length })}>
      <Stack gap={4} component="ul" m={0} p={0} style={{ listStyle: 'none' }}>
        {problems.slice(0, SHOWN).map(({ line, text }) => (
          <li key={`${line} ${text}`}>
            <UnstyledButton disabled={line === null} onClick={() => line !== null && goTo(line)}>
              <Text size="sm" component="span" style={{ color: 'var(--bad)' }}>
                {line !== null && <span className="num">{say('configuration.line', { line })} </span>}
                {text}
              </Text>
            </UnstyledButton>
          </li>
        ))}
      </Stack>
      {problems.length > SHOWN && (
        <Text size="sm" className="soft">
          {say('configuration.moreProblems', { count: problems.length - SHOWN })}
        </Text>
      )}
    </Panel>
  );
}
