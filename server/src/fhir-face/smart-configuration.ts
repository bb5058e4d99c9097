import { supportedScopes } from '../clients/smart-scopes.ts';
import { tokenMetadata } from '../oauth/server-metadata.ts';
import { fhirDescription } from './interaction.ts';

/**
 * `GET [base]/.well-known/smart-configuration`: https://hl7.org/fhir/smart-app-launch/STU2.2/conformance.html
 *
 * The same for every path, so that it does not tell which EHRs and care units exist. It is JSON whatever `Accept` says.
 */
export const readSmartConfiguration = fhirDescription(
  'fhir_read_smart_configuration',
  '/.well-known/smart-configuration',
  { send: async (body, reply) => reply.type('application/json; charset=utf-8').send(JSON.stringify(body)) },
  ({ server }) => ({
    ...tokenMetadata(server.endpointDeps.tokenUrl()),
    scopes_supported: supportedScopes,
    capabilities: ['client-confidential-asymmetric', 'permission-v1', 'permission-v2'],
    // The specification requires it of every server, also of one without the grant that has code challenges.
    code_challenge_methods_supported: ['S256'],
  }),
);
