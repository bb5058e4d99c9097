import type { FastifyRequest } from 'fastify';
import { type AuditedAccess, newReached, type WorkContext } from '../context/work-context.ts';
import { outcomeUnknownInDatabase, unavailable } from '../problems/problem.ts';
import type { WriteResponse } from '../writes/write-kind.ts';
import type { ReadShown } from './endpoint.ts';

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

const nothing: ReturnType<ReadShown> = { patients: [], records: [] };

function ofRecords(records: readonly RecordBody[]): ReturnType<ReadShown> {
  return { patients: records.map(({ patient_id }) => patient_id), records: records.flatMap(({ id }) => id ?? []) };
}

declare module 'fastify' {
  interface FastifyRequest {
    /** Whether the gateway has tried to write the entry. */
    isAudited?: boolean;
  }
}

/** Whether a response was stored under an `Idempotency-Key` by an earlier request, maybe one to an earlier version. */
export function isReplayed(headers: WriteResponse['headers'] = {}): boolean {
  return headers['idempotency-replayed'] === 'true';
}

/** What a request that leaves an entry notes. A write leaves it in the statement that ends its write. */
export function auditOf(request: FastifyRequest): Pick<WorkContext, 'reached' | 'access'> {
  if (request.routeOptions.config.endpoint?.audit === 'none') return {};
  const reached = newReached();
  if (!isWrite(request)) return { reached };
  return { reached, access: { describe: (outcome, body) => auditedAccessOf(request, outcome, body) } };
}

/**
 * Writes the entry of a request that gets data, before the data is sent, unless the write has left it.
 *
 * @throws Problem if the entry cannot be stored: `outcome_unknown` if the request may have changed something, otherwise
 * `database_unavailable`
 */
export async function auditResponse(
  request: FastifyRequest,
  body: object,
  headers: Readonly<Record<string, string>> = {},
): Promise<void> {
  const outcome = isDryRun(request) ? 'dry_run' : isReplayed(headers) ? 'replayed' : 'success';
  if (request.context?.access?.recorded === outcome) return;
  try {
    await writeEntry(request, auditedAccessOf(request, outcome, body));
  } catch (cause) {
    throw isWrite(request) ? outcomeUnknownInDatabase(cause) : unavailable('database_unavailable', { cause });
  }
}

/** The query may still be unparsed text if another part of the request failed validation first. */
export function isDryRun(request: FastifyRequest): boolean {
  const { representation } = request.routeOptions.config.endpoint ?? {};
  if (representation) return representation.isDryRun?.(request) ?? false;
  const { query } = request;
  return String((query as { readonly dry_run?: unknown }).dry_run) === 'true';
}

/**
 * The access of a request, as it ends now.
 *
 * @param body of the response. Absent: a problem
 */
export function auditedAccessOf(request: FastifyRequest, outcome: string, body?: object): AuditedAccess {
  const { access, context, id, routeOptions } = request;
  const { endpoint } = routeOptions.config;
  if (!access?.ehr || !access.careUnit || !endpoint) throw new Error('Only access to a care unit is recorded');
  const { patients, records } = body && typeof endpoint.audit === 'function' ? endpoint.audit(body) : nothing;
  return {
    actor: 'client',
    clientId: access.client.id,
    operation: endpoint.operationId,
    emr: access.ehr.id,
    careUnitId: access.careUnit.id,
    patients: [...(context?.reached?.patients ?? []), ...patients],
    records: [...(context?.reached?.records ?? []), ...records],
    outcome,
    requestId: id,
    writeId: context?.access?.writeId,
  };
}

function isWrite(request: FastifyRequest): boolean {
  const { endpoint, isRead } = request.routeOptions.config;
  return endpoint !== undefined && !isRead && !isDryRun(request);
}

/** Writes the entry of a request that no write has left. */
export async function writeEntry(request: FastifyRequest, access: AuditedAccess): Promise<void> {
  request.isAudited = true;
  await request.server.endpointDeps.services.audit.record(access, !isWrite(request));
}
