import { createHash } from 'node:crypto';
import type { FastifyRequest } from 'fastify';
import { Problem, problemAt } from '../problems/problem.ts';
import { baseOf, type FaceDeps } from './face.ts';
import { readEtag } from './preferences.ts';
import { parametersOf } from './search/input.ts';

/**
 * The idempotency key of a create: what `If-None-Exist` names, which must be an identifier of the body, or the header
 * `Idempotency-Key`. https://hl7.org/fhir/R4/http.html#ccreate
 *
 * @throws Problem `request_invalid`
 */
export function keyOfCreate(deps: Pick<FaceDeps, 'publicUrl'>, request: FastifyRequest): string | undefined {
  const condition = headerOf(request, 'if-none-exist');
  const sent = keyOfOther(request, true);
  if (condition === undefined) return sent;
  const identifier = identifierIn(condition, `${baseOf(deps, request)}/Appointment`);
  const { identifier: own = [] } = (request.body ?? {}) as {
    readonly identifier?: readonly { readonly system?: unknown; readonly value?: unknown }[];
  };
  const isOwn = Array.isArray(own) && own.some(({ system, value }) => `${system}|${value}` === identifier);
  if (!identifier || !isOwn) {
    throw conditionFault('If-None-Exist must be identifier=system|value of an identifier of the Appointment.');
  }
  if (sent !== undefined && sent !== identifier) {
    throw conditionFault('If-None-Exist and Idempotency-Key must have the same value.');
  }
  // Keys are short and printable.
  return /^[\x20-\x7e]{1,255}$/.test(identifier) ? identifier : createHash('sha256').update(identifier).digest('hex');
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
function identifierIn(condition: string, url: string): string | undefined {
  const mark = condition.indexOf('?');
  const target = mark === -1 ? '' : condition.slice(0, mark);
  if (!['', 'Appointment', url].includes(target))
    throw conditionFault('If-None-Exist must search for Appointments here.');
  const [[name, value] = [], ...others] = new URLSearchParams(condition.slice(mark + 1));
  return name === 'identifier' && others.length === 0 && /^[^|]+\|[^|]+$/.test(value ?? '') ? value : undefined;
}

function conditionFault(detail: string): Problem {
  return problemAt({ in: 'header', header: 'if-none-exist' }, 'request_invalid', detail);
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
  const wanted = readEtag(headers['if-match']);
  if (wanted === undefined || wanted === '*' || wanted === versionId) return;
  throw problemAt({ in: 'header', header: 'if-match' }, 'version_outdated', 'The Appointment has another version.');
}
