import { Stack, Text } from '@mantine/core';
import { ERROR_TABLE } from '../../../src/error-table.ts';
import { JOB_FAULTS } from '../../../src/jobs/faults.ts';
import { useSay } from '../text.tsx';

const CURES = { 401: 'credential', 402: 'credits', 403: 'permission', 404: 'name', 429: 'pace' } as const;
const REFUSALS: readonly string[] = ['upstream_rejected', 'content_rejected'];

interface ErrorHelpProps {
  readonly code: string;
  /** A job's fault: the same code may mean less for a call. */
  readonly isOfJob?: boolean;
}

/** What an error code means and what helps. The meaning is the gateway's own, from the tables that it answers with. */
export function ErrorHelp({ code, isOfJob = false }: ErrorHelpProps) {
  const say = useSay();
  const fault = isOfJob ? wordsIn<string>(JOB_FAULTS, code) : undefined;
  const [status, meaning] = wordsIn<readonly [number, string]>(ERROR_TABLE, code) ?? [];
  return (
    <Stack gap={4}>
      <Text size="sm">
        <code className="mono">{code}</code>
      </Text>
      <Text size="sm">{fault ?? meaning}</Text>
      <Text size="sm" className="soft">
        {say(`help.${fault === undefined ? cureOf(status) : REFUSALS.includes(code) ? 'request' : 'later'}`)}
      </Text>
    </Stack>
  );
}

function cureOf(status = 500) {
  return CURES[status as keyof typeof CURES] ?? (status < 500 ? ('request' as const) : ('later' as const));
}

function wordsIn<Words>(table: Readonly<Record<string, Words>>, code: string): Words | undefined {
  return Object.hasOwn(table, code) ? table[code] : undefined;
}
