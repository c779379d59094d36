import type { IncomingHttpHeaders, IncomingMessage, ServerResponse } from 'node:http';
import { OpenAiEmulator } from '../openai/emulator.ts';

export interface AzureOptions {
  readonly apiKey: string;
  /** The tokens of Entra ID that it takes. */
  readonly tokens?: ReadonlySet<string>;
  /** The deployments that the resource has. */
  readonly deployments: readonly string[];
  readonly marker?: string;
}

const DEPLOYED = /^\/openai\/deployments\/([^/]+)(\/[^?]+)\?api-version=(2024-10-21|2025-04-01-preview)$/;

/**
 * One resource: the format of openai under Azure's paths and credentials, both the path of v1 and the dated versions
 * with the deployment in the path. What it answers is the format's author's; what it refuses of its own is Azure's.
 */
export class AzureEmulator extends OpenAiEmulator {
  /** Every request as it came, in Azure's own terms. */
  readonly calls: { readonly path: string; readonly headers: IncomingHttpHeaders }[] = [];
  readonly #options: AzureOptions;

  constructor(options: AzureOptions) {
    const { apiKey, deployments, marker } = options;
    super({ apiKey, models: deployments, ...(marker !== undefined && { marker }) });
    this.#options = options;
  }

  override get url(): string {
    return `${this.origin}/openai/v1`;
  }

  protected override async serve(request: IncomingMessage, response: ServerResponse): Promise<void> {
    this.calls.push({ path: request.url ?? '', headers: { ...request.headers } });
    const refusal = this.#refusal(request);
    if (refusal === undefined) {
      request.headers.authorization = `Bearer ${this.#options.apiKey}`;
      request.url = `/v1${pathOf(request.url ?? '')}`;
      return super.serve(request, response);
    }
    const [status, code, message] = refusal;
    await this.receive(request, response, false);
    response.writeHead(status, { 'content-type': 'application/json', 'apim-request-id': this.#options.marker ?? '' });
    response.end(JSON.stringify({ error: { code, message } }));
  }

  #refusal({
    headers,
    url = '',
  }: IncomingMessage): readonly [status: number, code: string, message: string] | undefined {
    const { apiKey, tokens, deployments } = this.#options;
    const [, bearer = ''] = /^Bearer (.+)$/.exec(headers.authorization ?? '') ?? [];
    const isKnown = headers['api-key'] === apiKey || tokens?.has(bearer) === true;
    if (!isKnown || (bearer !== '' && headers['api-key'] !== undefined)) {
      return [401, '401', 'Access denied due to invalid subscription key or wrong API endpoint.'];
    }
    if (pathOf(url) === undefined) return [404, '404', 'Resource not found'];
    const deployment = DEPLOYED.exec(url)?.[1];
    if (deployment === undefined || deployments.includes(decodeURIComponent(deployment))) return undefined;
    return [404, 'DeploymentNotFound', 'The API deployment for this resource does not exist.'];
  }
}

/** As the format's author has it; undefined for a path that Azure does not have. */
function pathOf(url: string): string | undefined {
  if (url.startsWith('/openai/v1/')) return url.slice('/openai/v1'.length);
  if (/^\/openai\/models\?api-version=/.test(url)) return '/models';
  return DEPLOYED.exec(url)?.[2];
}
