import { Group, Text } from '@mantine/core';
import { Link } from '@tanstack/react-router';

export function Brand() {
  return (
    <Link to="/" style={{ textDecoration: 'none' }}>
      <Group gap={8} wrap="nowrap">
        <img src="/favicon.svg" width={24} height={24} alt="" />
        <Text fw={700} style={{ whiteSpace: 'nowrap' }}>
          Tollgate
        </Text>
      </Group>
    </Link>
  );
}
