import type { IncomingHttpHeaders } from 'node:http';
import { Refusal } from './outcome.ts';

const interactions: readonly (readonly [method: string, path: RegExp, id: string, scope: string])[] = [
  ['GET', /^metadata$/, 'read:metadata-1', 'organization/*.read'],
  ['GET', /^Patient$/, 'search:patient-1', 'patient/*.read'],
  ['GET', /^Patient\/[^/]+$/, 'read:patient-1', 'patient/*.read'],
  ['GET', /^Patient\/[^/]+\/Appointment$/, 'search:patient_appointments-1', 'patient/*.read'],
  ['GET', /^Slot$/, 'search:slot-1', 'organization/*.read'],
  ['POST', /^Appointment$/, 'create:appointment-1', 'patient/*.write'],
  ['GET', /^Appointment\/[^/]+$/, 'read:appointment-1', 'patient/*.read'],
  ['PUT', /^Appointment\/[^/]+$/, 'update:appointment-1', 'patient/*.write'],
  ['PUT', /^Appointment\/[^/]+$/, 'cancel:appointment-1', 'patient/*.write'],
];
const prefix = 'urn:nhs:names:services:gpconnect:fhir:rest:';
const ownAsid = '918999198993';

/** A claim of the token, by name. */
export type Claims = Readonly<Record<string, unknown>>;

/**
 * The interaction of a request whose headers and token are as GP Connect wants them.
 *
 * @throws Refusal 415 or 400 BAD_REQUEST
 */
export function admitted(
  method: string,
  path: string,
  headers: IncomingHttpHeaders,
  audience: string,
  now: number,
): { readonly interaction: string; readonly claims: Claims } {
  const [type] = (headers['content-type'] ?? 'application/fhir+json').split(';');
  if (headers.accept !== 'application/fhir+json' || type !== 'application/fhir+json') throw new Refusal(415);
  const { 'ssp-traceid': trace, 'ssp-from': from, 'ssp-to': to, 'ssp-interactionid': id } = headers;
  const wanted = interactions.find(([verb, form, name]) => verb === method && form.test(path) && id === prefix + name);
  const isTrace = typeof trace === 'string' && /^[0-9a-f]{8}(-[0-9a-f]{4}){3}-[0-9a-f]{12}$/.test(trace);
  if (!wanted || !isTrace || typeof from !== 'string' || !/^\d{12}$/.test(from) || to !== ownAsid) throw badRequest();
  const [, , interaction, scope] = wanted;
  const claims = claimsIn(headers.authorization);
  const { iat, exp, aud, sub, requesting_practitioner: practitioner } = claims;
  const isTimely = typeof iat === 'number' && Number.isInteger(iat) && exp === iat + 300;
  if (!isTimely || Math.abs(now / 1000 - iat) > 300 || aud !== audience) throw badRequest();
  if (claims.reason_for_request !== 'directcare' || claims.requested_scope !== scope) throw badRequest();
  if (!isPerson(practitioner) || practitioner.id !== sub || 'requested_record' in claims) throw badRequest();
  const missing = ['iss', 'requesting_device', 'requesting_organization'].some((name) => !claims[name]);
  if (missing) throw badRequest();
  return { interaction, claims };
}

export function claimsIn(authorization: string | undefined): Claims {
  const [, head = '', claims = '', signature] = /^Bearer ([^.]+)\.([^.]+)\.(.*)$/.exec(authorization ?? '') ?? [];
  try {
    const { alg, typ, ...more } = parsed(head);
    if (alg === 'none' && typ === 'JWT' && Object.keys(more).length === 0 && signature === '') return parsed(claims);
  } catch {
    // Refused below.
  }
  throw badRequest();
}

function parsed(part: string): Claims {
  if (!/^[A-Za-z0-9_-]+$/.test(part)) throw badRequest();
  return JSON.parse(Buffer.from(part, 'base64url').toString('utf8')) as Claims;
}

interface Person {
  readonly id?: unknown;
  readonly identifier: readonly { readonly system?: unknown; readonly value?: unknown }[];
}

function isPerson(value: unknown): value is Person {
  const { id, identifier, name } = (value ?? {}) as { id?: unknown; identifier?: unknown; name?: unknown };
  const systems = Array.isArray(identifier) ? identifier.map(({ system }) => String(system)) : [];
  const isKnown = ['sds-user-id', 'sds-role-profile-id'].every((it) => systems.some((system) => system.endsWith(it)));
  return typeof id === 'string' && id !== '' && isKnown && Array.isArray(name);
}

function badRequest(): Refusal {
  return new Refusal(400, 'BAD_REQUEST');
}
