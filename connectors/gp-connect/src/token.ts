import type { User } from '@crossward/connector-kit';
import type { GpConnectSettings } from './settings.ts';
import { identifierSystems } from './urls.ts';

/** The scope that the token of each interaction requests. */
export const scopes = {
  'search:patient-1': 'patient/*.read',
  'read:patient-1': 'patient/*.read',
  'search:slot-1': 'organization/*.read',
  'create:appointment-1': 'patient/*.write',
  'read:appointment-1': 'patient/*.read',
  'search:patient_appointments-1': 'patient/*.read',
  'update:appointment-1': 'patient/*.write',
  'cancel:appointment-1': 'patient/*.write',
  'read:metadata-1': 'organization/*.read',
} as const;

/** What a request is for. It must match the request, or the practice refuses it. */
export type Interaction = keyof typeof scopes;

/** The value of the header Ssp-InteractionID. */
export function interactionId(interaction: Interaction): string {
  return `urn:nhs:names:services:gpconnect:fhir:rest:${interaction}`;
}

/** Exactly this, or the practice refuses the token. */
const lifetimeSeconds = 300;

/**
 * The token that names who asks, and why: a JWT without a signature, which ends with a dot. GP Connect wants a new one for
 * each request.
 * https://developer.nhs.uk/apis/gpconnect-1-2-7/integration_cross_organisation_audit_and_provenance.html
 *
 * @param user `undefined`: the one of the settings
 */
export function bearerToken(
  { provider_url, issuer, organization, device, practitioner: desk }: GpConnectSettings,
  user: User | undefined,
  interaction: Interaction,
  now: Date,
): string {
  const { id, familyName, givenName, title, sdsUserId, sdsRoleProfileId } = user ?? deskOf(desk);
  const iat = Math.floor(now.getTime() / 1000);
  const claims = {
    iss: issuer,
    sub: id,
    aud: provider_url,
    exp: iat + lifetimeSeconds,
    iat,
    reason_for_request: 'directcare',
    requested_scope: scopes[interaction],
    requesting_device: {
      resourceType: 'Device',
      identifier: [{ system: ownSystem(issuer, 'device'), value: device.id }],
      model: device.model,
      version: device.version,
    },
    requesting_organization: {
      resourceType: 'Organization',
      identifier: [{ system: identifierSystems.odsCode, value: organization.ods_code }],
      name: organization.name,
    },
    requesting_practitioner: {
      resourceType: 'Practitioner',
      id,
      identifier: [
        { system: identifierSystems.sdsUserId, value: sdsUserId ?? 'UNK' },
        { system: identifierSystems.sdsRoleProfileId, value: sdsRoleProfileId ?? 'UNK' },
        { system: ownSystem(issuer, 'user'), value: id },
      ],
      name: [{ family: familyName, given: [givenName], ...(title ? { prefix: [title] } : {}) }],
    },
  };
  return `${encoded({ alg: 'none', typ: 'JWT' })}.${encoded(claims)}.`;
}

function deskOf(desk: GpConnectSettings['practitioner']): User {
  const { id, family_name: familyName, given_name: givenName, title = null } = desk;
  const { sds_user_id: sdsUserId = null, sds_role_profile_id: sdsRoleProfileId = null } = desk;
  return { id, familyName, givenName, title, sdsUserId, sdsRoleProfileId };
}

/** GP Connect wants a URL of one's own for identifiers that no national system issues. */
function ownSystem(issuer: string, kind: 'device' | 'user'): string {
  return `${issuer.replace(/\/+$/, '')}/Id/${kind}`;
}

function encoded(part: object): string {
  return Buffer.from(JSON.stringify(part)).toString('base64url');
}
