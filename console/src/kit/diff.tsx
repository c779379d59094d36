import { Text } from '@mantine/core';
import { useMemo } from 'react';
import { useSay } from '../text.tsx';
import { type DiffLine, diffLines, withGaps } from './line-diff.ts';

interface DiffProps {
  readonly label: string;
  readonly before: string;
  readonly after: string;
}

const SIGNS: Readonly<Record<DiffLine['kind'], string>> = { same: ' ', removed: '−', added: '+', gap: '' };

/** Two texts, line by line: what goes, what comes, and a little of what stays around it. */
export function Diff({ label, before, after }: DiffProps) {
  const say = useSay();
  const lines = useMemo(() => withGaps(diffLines(before, after)), [before, after]);
  if (before === after) {
    return (
      <Text size="sm" className="soft">
        {say('diff.same')}
      </Text>
    );
  }
  return (
    // biome-ignore lint/a11y/noNoninteractiveTabindex: what scrolls must be reachable by keyboard.
    <div className="diff" tabIndex={0}>
      <table aria-label={label}>
        <tbody>
          {lines.map((line) => (
            <Line
              key={`${line.kind} ${'before' in line ? line.before : ''} ${'after' in line ? line.after : ''}`}
              line={line}
            />
          ))}
        </tbody>
      </table>
    </div>
  );
}

function Line({ line }: { readonly line: DiffLine }) {
  const say = useSay();
  if (line.kind === 'gap') {
    return (
      <tr data-kind="gap">
        <td className="cell gap" colSpan={4}>
          {say('diff.gap', { count: line.count })}
        </td>
      </tr>
    );
  }
  return (
    <tr data-kind={line.kind}>
      <td className="cell line">{'before' in line ? line.before : ''}</td>
      <td className="cell line">{'after' in line ? line.after : ''}</td>
      <td className="cell line">{SIGNS[line.kind]}</td>
      <td className="cell">{line.text}</td>
    </tr>
  );
}
