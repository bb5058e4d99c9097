import { supportedScopes } from '../clients/smart-scopes.ts';
import { assertionAlgorithms } from '../config/rules/client-keys.ts';
import { scopes } from '../config/schema/schema.ts';

/** Below the public address of the gateway. */
export const serverMetadataPath = '/.well-known/oauth-authorization-server';

/** How clients get access tokens, as the metadata of OAuth and the configuration of SMART say it. */
export function tokenMetadata(tokenUrl: string) {
  return {
    token_endpoint: tokenUrl,
    token_endpoint_auth_methods_supported: ['private_key_jwt'],
    token_endpoint_auth_signing_alg_values_supported: Object.values(assertionAlgorithms).flat(),
    grant_types_supported: ['client_credentials'],
  };
}

/**
 * The metadata of the gateway as an authorization server (RFC 8414, section 2).
 *
 * @param issuer the public address of the gateway, which access tokens name
 */
export function serverMetadata(issuer: string, tokenUrl: string) {
  return {
    issuer,
    ...tokenMetadata(tokenUrl),
    // Required, also of a server without an authorization endpoint.
    response_types_supported: [],
    // Not required of such a server, but the SDK of the Model Context Protocol reads no metadata without it. Nobody is sent there.
    authorization_endpoint: tokenUrl,
    scopes_supported: [...supportedScopes, ...scopes],
  };
}
