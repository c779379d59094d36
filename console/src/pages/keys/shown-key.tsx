import type { NewApiKey } from '../../api/schema.ts';
import { ShownOnce } from '../../kit/shown-once.tsx';
import { useSay } from '../../text.tsx';

export function ShownKey({ made: { name, key } }: { readonly made: NewApiKey }) {
  const say = useSay();
  return (
    <ShownOnce title={say('keys.shownTitle', { name })} about={say('keys.shownAbout')} secret={key} testId="new-key" />
  );
}
