import type { User } from '@crossward/connector-kit';
import type { FastifyRequest } from 'fastify';
import Type from 'typebox';
import { Check } from 'typebox/value';
import { type WorkContext, within } from '../context/work-context.ts';
import { newDatabaseTime } from '../db/time-limit.ts';
import { type Problem, problemAt } from '../problems/problem.ts';

declare module 'fastify' {
  interface FastifyRequest {
    /** See `contextOf`. */
    context?: WorkContext;
  }
}

/** What a request is made in. Its handler and the response to its error share how long it may wait for the database. */
export function contextOf(request: FastifyRequest): WorkContext {
  request.context ??= { databaseTime: newDatabaseTime() };
  return request.context;
}

/** Runs a handler in the context of its request. */
export function inContext<Request extends FastifyRequest, Reply>(
  handler: (request: Request, reply: Reply) => Promise<unknown>,
): (request: Request, reply: Reply) => Promise<unknown> {
  return (request, reply) => within(contextOf(request), () => handler(request, reply));
}

/** For whom a request calls EHRs. @throws Problem `request_invalid` */
export function clientAndUserOf(request: FastifyRequest): Pick<WorkContext, 'clientId' | 'user'> {
  return { clientId: request.access?.client.id ?? '', user: userOf(request) };
}

/** Text without control characters, which could forge lines in the audit trail of an EHR. */
const text = Type.String({ minLength: 1, maxLength: 200, pattern: '^[^\\p{Cc}]+$' });
const named = Type.Object(
  {
    id: text,
    family_name: text,
    given_name: text,
    title: Type.Optional(text),
    sds_user_id: Type.Optional(text),
    sds_role_profile_id: Type.Optional(text),
  },
  { additionalProperties: false },
);

/**
 * The person whom the client names in the header that the EHR's connection configures. `undefined`: nobody, or there is no
 * such header. The value appears in no log and no problem.
 *
 * @throws Problem `request_invalid`
 */
function userOf({ access, raw }: FastifyRequest): User | undefined {
  const name = access?.ehr?.userHeader;
  const sent = name === undefined ? undefined : raw.headersDistinct[name];
  if (name === undefined || sent === undefined) return undefined;
  const [value = '', ...more] = sent;
  const user = parsed(value);
  if (more.length > 0 || !Check(named, user)) throw invalid(name);
  return {
    id: user.id,
    familyName: user.family_name,
    givenName: user.given_name,
    title: user.title ?? null,
    sdsUserId: user.sds_user_id ?? null,
    sdsRoleProfileId: user.sds_role_profile_id ?? null,
  };
}

function invalid(header: string): Problem {
  const detail = `The ${header} header must have one JSON object: id, family_name, given_name, and optionally title, sds_user_id and sds_role_profile_id, each a text of up to 200 characters.`;
  return problemAt({ in: 'header', header }, 'request_invalid', detail);
}

/** `undefined`: not JSON. The parser's message would quote the value. */
function parsed(value: string): unknown {
  try {
    return JSON.parse(value);
  } catch {
    return undefined;
  }
}
