/** Where a protected resource says which authorization server it trusts; its own path stands behind it. */
export const METADATA_PATH = '/.well-known/oauth-protected-resource';

/** What a token can be bound to with `resource`: the only such resource of a deployment. */
export const MCP_PATH = '/mcp';

export function mcpResource(publicUrl: string): string {
  return publicUrl + MCP_PATH;
}

/** RFC 9728: what a client of the resource reads before it asks a person. */
export function resourceMetadata(publicUrl: string, scopes: readonly string[]): Record<string, unknown> {
  return {
    resource: mcpResource(publicUrl),
    resource_name: 'Tollgate',
    authorization_servers: [publicUrl],
    scopes_supported: scopes,
    bearer_methods_supported: ['header'],
  };
}
