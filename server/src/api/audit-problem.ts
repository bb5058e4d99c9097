import type { FastifyRequest } from 'fastify';
import { newReached, within } from '../context/work-context.ts';
import type { EhrConnection } from '../ehr/connection.ts';
import { describeError } from '../log/describe-error.ts';
import { inPath } from '../problems/places.ts';
import { outcomeUnknownInDatabase, Problem, unavailable } from '../problems/problem.ts';
import type { Reason } from '../problems/reasons.ts';
import { auditedAccessOf, writeEntry } from './audit-request.ts';
import { headerReader, patientIdentifier } from './identifiers.ts';

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
  const { audit } = request.routeOptions.config.endpoint ?? {};
  const { access, isAudited, context } = request;
  const reached = context?.reached;
  if (context?.access?.recorded === problem.reason) return undefined;
  if (audit === undefined || audit === 'none' || isAudited || !access?.ehr || !access.careUnit) return undefined;
  // There is no database to write to.
  if (problem.reason === 'database_unavailable' || (!reached && beforeHandler.has(problem.reason))) return undefined;
  const about = auditedAccessOf(request, problem.reason);
  const patients = reached && reached.patients.size > 0 ? about.patients : namedPatients(request, access.ehr);
  if (audit === 'if_patient' && [...patients].length === 0) return undefined;
  const store = () => writeEntry(request, { ...about, patients });
  // A connection that broke with the write may fail the entry too. An entry of what was told twice is better than none.
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

/**
 * The patients that a request names, in Patient ID notation: for one that was rejected before its handler read them. A text
 * that is no identifier names nobody.
 */
function namedPatients(request: FastifyRequest, ehr: EhrConnection): readonly string[] {
  const { params, query, body, server } = request;
  const readHeader = headerReader(request, server.endpointDeps.identifierHeaders);
  const reached = newReached();
  for (const part of [params, query, body]) {
    const text = typeof part === 'object' && part !== null && 'patient_id' in part ? part.patient_id : undefined;
    if (typeof text !== 'string') continue;
    try {
      within({ reached }, () => patientIdentifier(text, inPath('patient_id'), ehr, readHeader));
    } catch (error) {
      if (!(error instanceof Problem)) throw error;
    }
  }
  return [...reached.patients];
}
