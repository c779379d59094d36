import { Button, Group, Stack, Text } from '@mantine/core';
import { useMutation } from '@tanstack/react-query';
import { api } from '../../api/client.ts';
import type { Books as BooksRecord } from '../../api/schema.ts';
import { State } from '../../kit/badge.tsx';
import { useRefresh } from '../../kit/confirm.tsx';
import { Code } from '../../kit/copy.tsx';
import { Fact, Facts } from '../../kit/facts.tsx';
import { countText } from '../../kit/format.ts';
import { Page, Panel } from '../../kit/page.tsx';
import { Problem } from '../../kit/states.tsx';
import { useSay, useText } from '../../text.tsx';
import { LastBooksCheck } from './today/last-check.tsx';

/** Whether every balance follows from the ledger's entries. */
export function Books() {
  const say = useSay();
  const refresh = useRefresh();
  const check = useMutation({
    mutationFn: (isFull: boolean) => api<BooksRecord>('/api/admin/books', { query: { full: isFull ? 1 : undefined } }),
    onSuccess: () => refresh(['/api/admin/overview']),
  });
  return (
    <Page
      title={say('books.title')}
      about={say('books.about')}
      actions={
        <>
          <Button loading={check.isPending && check.variables === false} onClick={() => check.mutate(false)}>
            {say('books.check')}
          </Button>
          <Button
            variant="default"
            loading={check.isPending && check.variables === true}
            onClick={() => check.mutate(true)}
          >
            {say('books.full')}
          </Button>
        </>
      }
    >
      <Panel title={say('books.last')}>
        <LastBooksCheck />
      </Panel>
      {check.error !== null && <Problem error={check.error} />}
      {check.data !== undefined && <Result books={check.data} />}
      <Panel title={say('books.meaning')}>
        <Stack gap="xs">
          {(['meaningBooks', 'meaningCheck', 'meaningFull'] as const).map((name) => (
            <Text key={name} size="sm">
              {say(`books.${name}`)}
            </Text>
          ))}
        </Stack>
      </Panel>
    </Page>
  );
}

function Result({ books }: { readonly books: BooksRecord }) {
  const { say, language } = useText();
  return (
    <Panel title={say('books.result')}>
      <Stack role="status">
        <Group>
          <State tone={books.balanced ? 'good' : 'bad'}>
            {say(books.balanced ? 'books.balanced' : 'books.differs')}
          </State>
        </Group>
        <Facts>
          <Fact label={say('books.accounts')}>{countText(books.accounts, language)}</Fact>
          <Fact label={say('books.entries')}>{countText(books.entries, language)}</Fact>
          <Fact label={say('books.checked')}>{countText(books.entries_checked, language)}</Fact>
        </Facts>
        {books.difference !== undefined && <Code text={JSON.stringify(books.difference, null, 2)} />}
      </Stack>
    </Panel>
  );
}
