import type { FastifyRequest } from 'fastify';
import type { Tx } from '../db/kysely.ts';
import { problemAt } from '../problems/problem.ts';
import { write } from '../writes/write.ts';
import type { PlannedWrite, WriteResponse, WriteServices } from '../writes/write-kind.ts';
import { writeOwnTables } from '../writes/write-own-tables.ts';
import { isDryRun } from './audit-request.ts';

/**
 * Makes a write to the EHR at most once for each `Idempotency-Key`, or shows it in a dry run. A validation problem is stored
 * under the key like any other. A dry run stores nothing, but its key must be well-formed too.
 */
export async function writeToEhr(
  services: WriteServices,
  request: FastifyRequest,
  plan: () => Promise<PlannedWrite>,
): Promise<WriteResponse> {
  const { client, ehr, careUnit } = request.access ?? {};
  if (!client || !ehr || !careUnit) throw new Error('A write to an EHR without a care unit');
  const asked = { ...keyOf(request), clientId: client.id, ehr, careUnit };
  const planned = ifValid(request, plan);
  if (!isDryRun(request)) return write(services, { ...asked, plan: planned, begin: () => request.begin() });
  const proposed = await planned();
  if (!proposed.kind.preview) throw new Error('The write has no dry run');
  return proposed.kind.preview({ ...asked, services }, proposed.plan);
}

/** Writes to the gateway's own tables, at most once for each `Idempotency-Key`. */
export async function writeToOwnTables(
  services: WriteServices,
  request: FastifyRequest,
  store: (tx: Tx) => Promise<WriteResponse>,
): Promise<WriteResponse> {
  if (!request.access) throw new Error('A write without a client');
  const asked = { ...keyOf(request), clientId: request.access.client.id };
  // Without a key nothing is stored, so the database is not needed.
  if (request.validationError && !asked.keyed) throw request.validationError;
  if (!request.validationError) await request.begin();
  return writeOwnTables(services, asked, ifValid(request, store));
}

/** What a request does. If its validation failed, that fails with the problem, so that it is stored under the key. */
function ifValid<Input extends readonly unknown[], Result>(
  { validationError }: FastifyRequest,
  work: (...input: Input) => Promise<Result>,
): (...input: Input) => Promise<Result> {
  return validationError ? () => Promise.reject(validationError) : work;
}

const printable = /^[\x20-\x7e]{1,255}$/;

/** @throws Problem `request_invalid` */
function keyOf(request: FastifyRequest) {
  const { id: requestId, headers } = request;
  const { representation } = request.routeOptions.config.endpoint ?? {};
  const key = representation?.keyOf ? representation.keyOf(request) : headers['idempotency-key'];
  if (key === undefined) return { requestId, keyed: undefined };
  if (typeof key === 'string' && printable.test(key)) {
    const isCondition = representation?.isCondition?.(request) ?? false;
    return { requestId, keyed: { key, fingerprints: fingerprintsOf(request, namedUnit(request)), isCondition } };
  }
  const detail = 'The idempotency-key header must have 1 to 255 printable ASCII characters.';
  throw problemAt({ in: 'header', header: 'idempotency-key' }, 'request_invalid', detail);
}

/** The care unit that the body or an id names. Otherwise it is in the URL. */
function namedUnit({ access, routeOptions }: FastifyRequest): readonly string[] {
  const { ehr, careUnit } = access ?? {};
  return routeOptions.config.endpoint?.level === 'client' && ehr && careUnit ? [ehr.id, careUnit.id] : [];
}

type Fingerprinted = Pick<FastifyRequest, 'method' | 'raw' | 'body' | 'params' | 'query' | 'headers'>;

/**
 * What identifies the content of a request: method, URL, body, and the values of referenced headers. The first one does not
 * depend on the order of members in the body, which has no meaning in JSON (RFC 8259, section 4).
 *
 * The second one, if it differs, does: version 0.1.0 stored it under a key, and a retry may come after the upgrade.
 *
 * @param unit whose ids the body has, if the URL does not name it
 * @internal for the test
 */
export function fingerprintsOf(request: Fingerprinted, unit: readonly string[] = []): readonly [string, ...string[]] {
  const asSent = fingerprint(request, request.body, unit);
  const sorted = fingerprint(request, withSortedMembers(request.body), unit);
  return sorted === asSent ? [sorted] : [sorted, asSent];
}

function fingerprint(
  { method, raw, params, query, headers }: Fingerprinted,
  body: unknown,
  unit: readonly string[],
): string {
  const referenced: (readonly string[] | null)[] = [];
  JSON.stringify([params, query, body], (_name, value) => {
    if (typeof value === 'string' && value.startsWith('header:'))
      referenced.push(raw.headersDistinct[value.slice('header:'.length).toLowerCase()] ?? null);
    return value;
  });
  return JSON.stringify([method, raw.url, body ?? null, referenced, headers['x-service-standard'] ?? null, ...unit]);
}

/** The same value, with the members of each object by name. Elements of lists keep their order. */
function withSortedMembers(value: unknown): unknown {
  if (typeof value !== 'object' || value === null) return value;
  if (Array.isArray(value)) return value.map(withSortedMembers);
  // `fromEntries` makes a member of the name `__proto__` too, where an assignment would not.
  const members = Object.entries(value).sort(([one], [other]) => (one < other ? -1 : 1));
  return Object.fromEntries(members.map(([name, it]) => [name, withSortedMembers(it)]));
}
