import { Button, Group, Text } from '@mantine/core';
import { Link } from '@tanstack/react-router';
import { Code } from '../../kit/copy.tsx';
import { Panel } from '../../kit/page.tsx';
import { useSay } from '../../text.tsx';

/** For an account that has spent nothing yet: three ways to begin. */
export function FirstSteps() {
  const say = useSay();
  return (
    <Panel title={say('first.title')}>
      <ol className="steps">
        <li>
          <Text size="sm" mb="xs">
            {say('first.playground')}
          </Text>
          <Button component={Link} to="/console/playground">
            {say('first.openPlayground')}
          </Button>
        </li>
        <li>
          <Text size="sm" mb="xs">
            {say('first.key')}
          </Text>
          <Group gap="xs">
            <Button component={Link} to="/console/keys" variant="default">
              {say('first.makeKey')}
            </Button>
            <Button component={Link} to="/console/models" variant="default">
              {say('nav.models')}
            </Button>
          </Group>
        </li>
        <li>
          <Text size="sm" mb="xs">
            {say('first.call')}
          </Text>
          <Code text={`curl ${window.location.origin}/v1/models -H "Authorization: Bearer $TOLLGATE_KEY"`} />
        </li>
      </ol>
    </Panel>
  );
}
