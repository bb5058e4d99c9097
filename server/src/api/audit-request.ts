import type { FastifyRequest } from 'fastify';
import type { Access } from '../audit/access.ts';
import { asAccess, type CurrentAccess } from '../audit/current-access.ts';
import type { EhrConnection } from '../ehr/connection.ts';
import { type Seen, watching } from '../ehr/seen.ts';
import { describeError } from '../log/describe-error.ts';
import { outcomeUnknownInDatabase, type Problem, unavailable } from '../problems/problem.ts';
import type { Reason } from '../problems/reasons.ts';
import { namedPatients } from './named-patients.ts';

/** The patients and records that a response contains. */
interface Shown {
  /** Identifiers of patients in Patient ID notation. */
  readonly patients: readonly string[];
  /** Ids of appointments, notes and documents. */
  readonly records: readonly string[];
}

/** Reads the patients and records from the body of a response. */
export type ReadShown = (body: object) => Shown;

interface RecordBody {
  /** Null in a dry run, if the record would be created. */
  readonly id: string | null;
  readonly patient_id: string;
}

/** The response is one record of a patient. */
export const oneRecord: ReadShown = (body) => ofRecords([body as RecordBody]);

/** The response has a list of records under this name. */
export function recordsIn(name: string): ReadShown {
  return (body) => ofRecords((body as Readonly<Record<string, readonly RecordBody[]>>)[name] ?? []);
}

/** The response is content without ids. The request names its patient. */
export const contentOnly: ReadShown = () => nothing;

const nothing: Shown = { patients: [], records: [] };

function ofRecords(records: readonly RecordBody[]): Shown {
  return { patients: records.map(({ patient_id }) => patient_id), records: records.flatMap(({ id }) => id ?? []) };
}

declare module 'fastify' {
  interface FastifyRequest {
    /** What the request concerns, for the audit trail. */
    seen?: Seen;
    /** What the request is, for the audit trail. */
    currentAccess?: CurrentAccess;
    /** Whether the gateway has tried to write the entry. */
    isAudited?: boolean;
  }
}

/** Runs the handler of a request that leaves an entry. A write leaves it in the statement that ends its operation. */
export function audited<Result>(request: FastifyRequest, seen: Seen, handle: () => Result): Result {
  request.seen = seen;
  if (request.method === 'GET') return watching(seen, handle);
  const access: CurrentAccess = { describe: (outcome, body) => describe(request, outcome, body) };
  request.currentAccess = access;
  return asAccess(access, () => watching(seen, handle));
}

/**
 * Writes the entry of a request that gets data, before the data is sent, unless the operation has left it.
 *
 * @throws Problem if the entry cannot be stored: `outcome_unknown` if the request may have changed something, otherwise
 * `database_unavailable`
 */
export async function auditResponse(
  request: FastifyRequest,
  body: object,
  headers: Readonly<Record<string, string>> = {},
): Promise<void> {
  const outcome = isDryRun(request) ? 'dry_run' : headers['idempotency-replayed'] === 'true' ? 'replayed' : 'success';
  if (request.currentAccess?.recorded === outcome) return;
  try {
    await write(request, describe(request, outcome, body));
  } catch (cause) {
    throw isWrite(request) ? outcomeUnknownInDatabase(cause) : unavailable('database_unavailable', { cause });
  }
}

/**
 * Reasons that leave no entry before the handler runs, because nothing was read. A code that is resent too early is
 * `rate_limited` too, but after the look-up of its appointment.
 */
const beforeHandler: ReadonlySet<Reason> = new Set(['rate_limited', 'overloaded']);

/**
 * Writes the entry of a request that gets a problem. Returns the problem to send. If the entry cannot be stored, a rejection
 * becomes `database_unavailable`, because it can reveal something about a patient. A failure (5xx) reveals nothing and is
 * sent unchanged, unless it says what became of which appointment: then it becomes `outcome_unknown`. Returns `undefined` if
 * the request leaves no entry: it has no client, or concerns no patient.
 */
export function auditProblem(request: FastifyRequest, problem: Problem): Promise<Problem> | undefined {
  const { audit } = request.routeOptions.config.operation ?? {};
  const { access, isAudited, seen, currentAccess } = request;
  if (currentAccess?.recorded === problem.reason) return undefined;
  if (audit === undefined || audit === 'none' || isAudited || !access?.ehr || !access.careUnit) return undefined;
  // There is no database to write to.
  if (problem.reason === 'database_unavailable' || (!seen && beforeHandler.has(problem.reason))) return undefined;
  const store = () => write(request, describe(request, problem.reason));
  // A connection that broke with the operation may fail the entry too. An entry of what was told twice is better than none.
  const stored = store().catch((cause) => (problem.status < 500 ? Promise.reject(cause) : store()));
  return stored.then(
    () => problem,
    (cause) => {
      if (problem.status < 500) return unavailable('database_unavailable', { cause });
      if (problem.faults.some(({ id }) => id !== undefined)) return outcomeUnknownInDatabase(cause);
      request.log.error({ cause: describeError(cause) }, 'audit entry not stored');
      return problem;
    },
  );
}

/** The query may still be unparsed text if another part of the request failed validation first. */
export function isDryRun({ query }: Pick<FastifyRequest, 'query'>): boolean {
  return String((query as { readonly dry_run?: unknown }).dry_run) === 'true';
}

/** @param body of the response. Absent: a problem */
function describe(request: FastifyRequest, outcome: string, body?: object): Access {
  const { access, seen, id, routeOptions, currentAccess } = request;
  const { operation } = routeOptions.config;
  if (!access?.ehr || !access.careUnit || !operation) throw new Error('Only access to a care unit is recorded');
  const { patients, records } = shownBy(request, access.ehr, body);
  return {
    actor: 'client',
    clientId: access.client.id,
    operation: operation.operationId,
    emr: access.ehr.id,
    careUnitId: access.careUnit.id,
    patients: [...(seen?.patients ?? []), ...patients],
    records: [...(seen?.records ?? []), ...records],
    outcome,
    requestId: id,
    operationId: currentAccess?.operationId,
  };
}

function shownBy(request: FastifyRequest, ehr: EhrConnection, body: object | undefined): Shown {
  const { audit } = request.routeOptions.config.operation ?? {};
  if (body) return audit === undefined || audit === 'none' ? nothing : audit(body);
  const isKnown = request.seen !== undefined && request.seen.patients.size > 0;
  return isKnown ? nothing : { patients: namedPatients(request, ehr), records: [] };
}

function isWrite(request: FastifyRequest): boolean {
  return request.method !== 'GET' && request.method !== 'HEAD' && !isDryRun(request);
}

async function write(request: FastifyRequest, access: Access): Promise<void> {
  request.isAudited = true;
  await request.server.operationServices.audit.record(access, !isWrite(request));
}
