import { createHash } from 'node:crypto';
import type { OperationOutcomeIssue } from '@medplum/fhirtypes';
import type { FastifyRequest } from 'fastify';
import { type Fault, type Flaw, Problem, problemAt } from '../problems/problem.ts';
import { baseOf } from './face.ts';
import { preferenceOf } from './preferences.ts';
import { escaped, onlyToken, parametersOf } from './search/parameters.ts';
import { namesVersion } from './versions.ts';

/** An identifier of the body. */
export interface NamedResource {
  readonly system: string;
  readonly value: string;
}

/**
 * The idempotency key of a create: what `If-None-Exist` names, which must be an identifier of the body, or the header
 * `Idempotency-Key`. https://hl7.org/fhir/R4/http.html#ccreate
 *
 * @throws Problem `request_invalid`
 */
export function keyOfCreate(request: FastifyRequest): string | undefined {
  const named = conditionOf(request, 'Appointment');
  const sent = keyOfOther(request, true);
  if (named === undefined) return sent;
  const identifier = `${escaped(named.system)}|${escaped(named.value)}`;
  if (sent !== undefined && sent !== identifier) {
    throw conditionFault('If-None-Exist and Idempotency-Key must have the same value.');
  }
  const { ehr, careUnit } = request.access ?? {};
  // Keys are short and printable. What exists in one care unit is not asked for in another.
  return createHash('sha256')
    .update(JSON.stringify([ehr?.id, careUnit?.id, identifier]))
    .digest('hex');
}

/**
 * The identifier that `If-None-Exist` names.
 *
 * @throws Problem `request_invalid` unless it is an identifier of the body
 */
export function conditionOf(request: FastifyRequest, type: 'Appointment' | 'Patient'): NamedResource | undefined {
  const condition = headerOf(request, 'if-none-exist');
  if (condition === undefined) return undefined;
  const identifier = identifierIn(condition, baseOf(request), type);
  const { identifier: own = [] } = (request.body ?? {}) as {
    readonly identifier?: readonly { readonly system?: unknown; readonly value?: unknown }[];
  };
  const isOwn = (it: (typeof own)[number] | null) =>
    it?.system === identifier?.system && it?.value === identifier?.value;
  if (identifier && Array.isArray(own) && own.some(isOwn)) return identifier;
  throw conditionFault(`If-None-Exist must be identifier=system|value of an identifier of the ${type}.`);
}

/** The idempotency key of another write. @throws Problem `request_invalid` for a condition that only a create can have */
export function keyOfOther(request: FastifyRequest, isCreate = false): string | undefined {
  if (!isCreate && request.headers['if-none-exist'] !== undefined) {
    throw conditionFault('Only a create can have If-None-Exist.');
  }
  return headerOf(request, 'idempotency-key');
}

function headerOf({ headers }: FastifyRequest, name: string): string | undefined {
  const value = headers[name];
  return Array.isArray(value) ? value.join() : value;
}

/** HAPI's client sends `{base}/Appointment?identifier=…`, and encodes all of it. */
function identifierIn(condition: string, base: string, type: string): NamedResource | undefined {
  const mark = condition.indexOf('?');
  const target = (mark === -1 ? '' : condition.slice(0, mark)).replace(/\/$/, '');
  if (!['', type, `${base}/${type}`].includes(target))
    throw conditionFault(`If-None-Exist must search for a ${type} here.`);
  const [[name, value] = [], ...others] = new URLSearchParams(condition.slice(mark + 1));
  if (name !== 'identifier' || others.length > 0) return undefined;
  const { system = '', value: named = '' } = onlyToken(value ?? '') ?? {};
  return system !== '' && named !== '' ? { system, value: named } : undefined;
}

export function conditionFault(detail: string, flaw?: Flaw, status?: number): Problem {
  const place = { in: 'header', header: 'if-none-exist' } as const;
  const fault = { place, reason: 'request_invalid', detail, ...(flaw ? { flaw } : {}) } as const;
  return new Problem('request_invalid', { detail, faults: [fault], ...(status === undefined ? {} : { status }) });
}

/**
 * A write with a query is a conditional one, which is not offered: without the condition it would do something else.
 *
 * @throws Problem `request_invalid`
 */
export function assertUnconditional(request: FastifyRequest): void {
  const isKnown = ([name]: readonly [string, string]) => name === '_format' || name === '_pretty';
  if (parametersOf({ query: request.query, body: {} }).every(isKnown)) return;
  const detail = 'A write has no query: conditional updates are not offered, and a create uses If-None-Exist.';
  throw new Problem('request_invalid', { detail });
}

/** https://hl7.org/fhir/R4/http.html#concurrency @throws Problem `version_outdated` */
export function assertVersion({ headers }: FastifyRequest, versionId: string): void {
  const wanted = headers['if-match'];
  if (wanted === undefined || namesVersion(wanted, versionId)) return;
  throw problemAt({ in: 'header', header: 'if-match' }, 'version_outdated', 'The Appointment has another version.');
}

declare module 'fastify' {
  interface FastifyRequest {
    /** The elements that a write to the FHIR face does not keep. */
    lost?: readonly OperationOutcomeIssue[];
  }
}

/**
 * Notes the elements that a write does not keep, for its response. With `handling=strict`, nothing is left out.
 *
 * @throws Problem `request_invalid` (422), with a fault for each element
 */
export function noteLost(request: FastifyRequest, elements: readonly OperationOutcomeIssue[]): void {
  request.lost = elements;
  if (elements.length === 0 || preferenceOf(request, 'handling') !== 'strict') return;
  const faults = elements.map(({ details, expression }): Fault => {
    const path = (expression?.[0] ?? '').replace(/^\w+/, '').replaceAll(/\[(\d+)\]/g, '.$1');
    const place = { in: 'body', pointer: path.replaceAll('.', '/') } as const;
    return { place, reason: 'request_invalid', detail: details?.text ?? '', flaw: 'not-supported' };
  });
  throw new Problem('request_invalid', { status: 422, detail: faults[0]?.detail ?? '', faults });
}
