import { PLAYGROUND_ENDPOINTS, type PlaygroundEndpoint } from '../../api/endpoints.ts';
import type { JobRequest } from '../../api/schema.ts';
import { useSignedIn } from '../../api/session.ts';
import { CodeTabs } from '../../kit/copy.tsx';
import { Panel } from '../../kit/page.tsx';
import { samplesOf } from '../../samples/samples.ts';
import { useSay } from '../../text.tsx';

/** The same call as code; nothing for a route that the samples do not know. */
export function JobCode({ request }: { readonly request: JobRequest }) {
  const say = useSay();
  const { base_url } = useSignedIn();
  if (!isPlayground(request.endpoint)) return null;
  return (
    <Panel title={say('playground.code')}>
      <CodeTabs samples={samplesOf({ endpoint: request.endpoint, body: request.body, origin: base_url })} />
    </Panel>
  );
}

function isPlayground(endpoint: string): endpoint is PlaygroundEndpoint {
  return PLAYGROUND_ENDPOINTS.some((known) => known === endpoint);
}
