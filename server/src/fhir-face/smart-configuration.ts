import type { FastifyInstance } from 'fastify';
import Type from 'typebox';
import { addOperation } from '../api/route.ts';
import { supportedScopes } from '../clients/smart-scopes.ts';
import { assertionAlgorithms } from '../config/client-keys.ts';
import { type FaceDeps, facePath, faceRepresentation } from './face.ts';

/**
 * `GET [base]/.well-known/smart-configuration`: https://hl7.org/fhir/smart-app-launch/STU2.2/conformance.html
 *
 * The same for every path, so that it does not tell which EHRs and care units exist. It is JSON whatever `Accept` says.
 */
export function addSmartConfiguration(app: FastifyInstance, { tokenUrl }: Pick<FaceDeps, 'tokenUrl'>): void {
  addOperation(app, {
    operationId: 'fhir_read_smart_configuration',
    tag: 'FHIR',
    summary: '',
    level: 'care_unit',
    method: 'GET',
    path: `${facePath}/.well-known/smart-configuration`,
    scopes: [],
    audit: 'none',
    reasons: [],
    examples: { response: {} },
    response: { status: 200, description: '', schema: Type.Any() },
    representation: { ...faceRepresentation, mediaType: 'application/json; charset=utf-8', isPublic: true },
    handle: async () => ({
      body: {
        token_endpoint: tokenUrl(),
        token_endpoint_auth_methods_supported: ['private_key_jwt'],
        token_endpoint_auth_signing_alg_values_supported: Object.values(assertionAlgorithms).flat(),
        grant_types_supported: ['client_credentials'],
        scopes_supported: supportedScopes,
        capabilities: ['client-confidential-asymmetric', 'permission-v1', 'permission-v2'],
        // The specification requires it of every server, also of one without the grant that has code challenges.
        code_challenge_methods_supported: ['S256'],
      },
    }),
  });
}
