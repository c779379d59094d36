import { Group, Text } from '@mantine/core';
import { State } from '../../../kit/badge.tsx';
import { Loaded } from '../../../kit/states.tsx';
import { Time } from '../../../kit/values.tsx';
import { useSay } from '../../../text.tsx';
import { useOverview } from './overview.ts';

/** When the books were checked last, and whether they balanced. */
export function LastBooksCheck() {
  const say = useSay();
  return (
    <Loaded query={useOverview()} lines={1}>
      {({ books }) =>
        books === null ? (
          <Text size="sm">{say('books.never')}</Text>
        ) : (
          <Group gap="sm">
            <State tone={books.balanced ? 'good' : 'bad'}>
              {say(books.balanced ? 'books.balanced' : 'books.differs')}
            </State>
            <Text size="sm" component="span">
              <Time at={books.checked_at} />
            </Text>
          </Group>
        )
      }
    </Loaded>
  );
}
