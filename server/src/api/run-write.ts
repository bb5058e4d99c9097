import type { FastifyRequest } from 'fastify';
import type { OperationResponse } from '../operations/operation-response.ts';
import { runLocalOnce, type Transact } from '../operations/run-local-once.ts';
import { type Execute, runOnce } from '../operations/run-once.ts';
import type { OperationServices } from '../operations/services.ts';
import { problemAt } from '../problems/problem.ts';
import { isDryRun } from './audit-request.ts';

declare module 'fastify' {
  interface FastifyRequest {
    /** The request may have written to the database or the EHR. */
    hasBegun?: boolean;
  }
}

const printable = /^[\x20-\x7e]{1,255}$/;

/**
 * Runs a write at most once for each `Idempotency-Key`. A validation problem is stored under the key like any other. A dry
 * run stores nothing, but its key must be well-formed too.
 */
export function runWrite(
  services: OperationServices,
  request: FastifyRequest,
  handle: (write: Writers) => Promise<OperationResponse>,
): Promise<OperationResponse> {
  const { access, validationError } = request;
  if (!access) throw new Error('A write without a client');
  const key = readKey(request);
  const run = (write: Partial<Writers>) =>
    validationError ? Promise.reject(validationError) : handle({ ...noWrite, ...write });
  if (isDryRun(request)) return run({});
  const asked = {
    clientId: access.client.id,
    requestId: request.id,
    keyed: key === undefined ? undefined : { key, fingerprint: fingerprint(request) },
  };
  const { ehr, careUnit } = access;
  const begin = async () => {
    await request.assertCallerWaits();
    request.hasBegun = true;
  };
  if (!ehr || !careUnit) {
    return runLocalOnce(services, asked, (transact) => run({ transact: (work) => begin().then(() => transact(work)) }));
  }
  return runOnce(services, { ...asked, ehr, careUnit }, (execute) =>
    run({ execute: (kind, plan, decide) => begin().then(() => execute(kind, plan, decide)) }),
  );
}

/** How a handler writes: to the EHR of its care unit, or to the gateway's own tables. */
export interface Writers {
  readonly execute: Execute;
  readonly transact: Transact;
}

function rejectWrite(): never {
  throw new Error('A read or a dry run must not write');
}

export const noWrite: Writers = { execute: rejectWrite, transact: rejectWrite };

/** @throws Problem `request_invalid` */
function readKey({ headers }: FastifyRequest): string | undefined {
  const key = headers['idempotency-key'];
  if (key === undefined || (typeof key === 'string' && printable.test(key))) return key;
  const detail = 'The idempotency-key header must have 1 to 255 printable ASCII characters.';
  throw problemAt({ in: 'header', header: 'idempotency-key' }, 'request_invalid', detail);
}

/** Identifies the content of a request: method, URL, body, and the values of referenced headers. */
function fingerprint(request: FastifyRequest): string {
  const { method, raw, body, params, query } = request;
  const referenced = texts([params, query, body])
    .filter((text) => text.startsWith('header:'))
    .map((text) => request.raw.headersDistinct[text.slice('header:'.length).toLowerCase()] ?? null);
  const standard = request.headers['x-service-standard'] ?? null;
  return JSON.stringify([method, raw.url, body ?? null, referenced, standard]);
}

/** All strings in a value, in order. Iterative, so that deep nesting cannot overflow the stack. */
function texts(value: unknown): string[] {
  const found: string[] = [];
  const rest = [value];
  while (rest.length > 0) {
    const part = rest.pop();
    if (typeof part === 'string') found.push(part);
    else if (typeof part === 'object' && part !== null) rest.push(...Object.values(part).reverse());
  }
  return found;
}
