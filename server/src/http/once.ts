import type { FastifyRequest } from 'fastify';
import { answerOnce } from '../idempotency/answer-once.ts';
import type { Answer, KeptWrite } from '../idempotency/kept-write.ts';
import { problemAt } from '../problems/problem.ts';
import type { WriteServices } from '../writes/services.ts';

const printable = /^[\x20-\x7e]{1,255}$/;

/** Runs a write at most once for each `Idempotency-Key`. */
export type Once = (run: (write: KeptWrite) => Promise<Answer>) => Promise<Answer>;

/** Runs a write of this request under its key, if it has one. */
export function runOnce(
  services: WriteServices,
  request: FastifyRequest,
  key: string | undefined,
  run: (write: KeptWrite) => Promise<Answer>,
): Promise<Answer> {
  const { access } = request;
  if (!access) throw new Error('A write without credentials');
  return answerOnce(
    services,
    {
      clientId: access.client.id,
      emr: access.ehr?.id ?? '',
      careUnitId: access.careUnit?.id ?? '',
      requestId: request.id,
      keyed: key === undefined ? undefined : { key, fingerprint: fingerprint(request) },
    },
    run,
  );
}

/** Refuses what its schemas refuse, and keeps the refusal under the key, unless it was to be a dry run. */
export function refuseOnce(once: Once, { query, validationError }: FastifyRequest): Promise<Answer> {
  const refuse = () => Promise.reject(validationError);
  // Not validated, where another part of the request was refused before it.
  const isDryRun = String((query as { readonly dry_run?: unknown }).dry_run) === 'true';
  return isDryRun ? refuse() : once(refuse);
}

/** @throws Problem `request_invalid` */
export function readKey({ headers }: FastifyRequest): string | undefined {
  const key = headers['idempotency-key'];
  if (key === undefined || (typeof key === 'string' && printable.test(key))) return key;
  const detail = 'The header idempotency-key must have 1 to 255 printable ASCII characters.';
  throw problemAt({ in: 'header', header: 'idempotency-key' }, 'request_invalid', detail);
}

/** Whatever makes two requests the same one; the values of referenced headers count, their names being in the rest. */
function fingerprint(request: FastifyRequest): string {
  const { method, raw, body, params, query } = request;
  const referenced = texts([params, query, body])
    .filter((text) => text.startsWith('header:'))
    .map((text) => request.raw.headersDistinct[text.slice('header:'.length).toLowerCase()] ?? null);
  const standard = request.headers['x-service-standard'] ?? null;
  return JSON.stringify([method, raw.url, body ?? null, referenced, standard]);
}

/** Every text in it, in order, at a cost that does not grow with the depth. */
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
