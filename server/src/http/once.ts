import type { FastifyRequest } from 'fastify';
import { answerOnce } from '../idempotency/answer-once.ts';
import type { Answer, KeptWrite } from '../idempotency/kept-write.ts';
import { problemAt } from '../problems/problem.ts';
import type { WriteServices } from '../writes/services.ts';

const printable = /^[\x20-\x7e]{1,255}$/;

/** Runs a write under the request's `Idempotency-Key`, if it has one. */
export function once(
  services: WriteServices,
  request: FastifyRequest,
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
      key: readKey(request),
      fingerprint: fingerprint(request),
    },
    run,
  );
}

function readKey({ headers }: FastifyRequest): string | undefined {
  const key = headers['idempotency-key'];
  if (key === undefined || (typeof key === 'string' && printable.test(key))) return key;
  const detail = 'The header idempotency-key must have 1 to 255 printable ASCII characters.';
  throw problemAt({ in: 'header', header: 'idempotency-key' }, 'request_invalid', detail);
}

/** Whatever makes two requests the same one; the values of referenced headers count, their names being in the rest. */
function fingerprint(request: FastifyRequest): string {
  const { method, raw, body, params, query } = request;
  const referenced = [...texts([params, query, body])]
    .filter((text) => text.startsWith('header:'))
    .map((text) => request.raw.headersDistinct[text.slice('header:'.length).toLowerCase()] ?? null);
  const standard = request.headers['x-service-standard'] ?? null;
  return JSON.stringify([method, raw.url, body ?? null, referenced, standard]);
}

function* texts(value: unknown): Generator<string> {
  if (typeof value === 'string') yield value;
  else if (typeof value === 'object' && value !== null) for (const part of Object.values(value)) yield* texts(part);
}
