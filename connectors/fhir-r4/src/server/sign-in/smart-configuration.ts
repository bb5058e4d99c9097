import { ConnectorError, type EhrHttp } from '@crossward/connector-kit';
import { parse } from '../body.ts';

/** https://hl7.org/fhir/smart-app-launch/conformance.html#using-well-known */
export async function discoverTokenEndpoint(baseUrl: string, http: EhrHttp): Promise<string> {
  const url = `${baseUrl.replace(/\/+$/, '')}/.well-known/smart-configuration`;
  const response = await http.send({ method: 'GET', url, headers: { accept: 'application/json' }, repeatable: true });
  const endpoint = response.status === 200 ? tokenEndpoint(response.text) : undefined;
  if (endpoint !== undefined) return endpoint;
  throw new ConnectorError('rejected', 'The SMART configuration of the EHR names no token endpoint; set token_url');
}

function tokenEndpoint(text: string): string | undefined {
  const { token_endpoint } = (parse(text) ?? {}) as { readonly token_endpoint?: unknown };
  return typeof token_endpoint === 'string' && URL.canParse(token_endpoint) ? token_endpoint : undefined;
}
