import type { User } from '@crossward/connector-kit';
import { type Interaction, scopes } from './interactions.ts';
import type { GpConnectSettings } from './settings.ts';
import { identifierSystems } from './urls.ts';

/** Exactly this, or the practice refuses the token. */
const lifetimeSeconds = 300;

/**
 * The token that names who asks, and why: a JWT without a signature, which ends with a dot. GP Connect wants a new one for
 * each request.
 * https://developer.nhs.uk/apis/gpconnect-1-2-7/integration_cross_organisation_audit_and_provenance.html
 */
export function bearerToken(
  { provider_url, issuer, organization, device }: GpConnectSettings,
  user: User,
  interaction: Interaction,
  now: Date,
): string {
  const iat = Math.floor(now.getTime() / 1000);
  const claims = {
    iss: issuer,
    sub: user.id,
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
      id: user.id,
      identifier: [
        { system: identifierSystems.sdsUserId, value: user.sdsUserId ?? 'UNK' },
        { system: identifierSystems.sdsRoleProfileId, value: user.sdsRoleProfileId ?? 'UNK' },
        { system: ownSystem(issuer, 'user'), value: user.id },
      ],
      name: [
        {
          family: user.familyName,
          given: [user.givenName],
          ...(user.title === null ? {} : { prefix: [user.title] }),
        },
      ],
    },
  };
  return `${encoded({ alg: 'none', typ: 'JWT' })}.${encoded(claims)}.`;
}

/** GP Connect wants a URL of one's own for identifiers that no national system issues. */
function ownSystem(issuer: string, kind: 'device' | 'user'): string {
  return `${issuer.replace(/\/+$/, '')}/Id/${kind}`;
}

function encoded(part: object): string {
  return Buffer.from(JSON.stringify(part)).toString('base64url');
}
