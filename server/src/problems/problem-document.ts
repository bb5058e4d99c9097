import Type, { type Static } from 'typebox';
import type { Fault, Place, Problem } from './problem.ts';
import { codeNames, codeOf, reasonNames, reasons } from './reasons.ts';

const faultSchema = Type.Object({
  pointer: Type.Optional(Type.String({ description: 'JSON Pointer (RFC 6901) into the body.' })),
  parameter: Type.Optional(Type.String({ description: 'Path or query parameter.' })),
  header: Type.Optional(Type.String({ description: 'Request header.' })),
  id: Type.Optional(Type.String({ description: 'In bulk operations: the appointment at fault, where it was found.' })),
  reason: Type.Unsafe<string>({ type: 'string', enum: reasonNames }),
  detail: Type.String(),
});

/** RFC 9457 problem details with the gateway's extension members. */
export const problemSchema = Type.Object(
  {
    type: Type.String({ format: 'uri-reference', description: 'A page that explains the reason.' }),
    title: Type.String(),
    status: Type.Integer(),
    code: Type.Unsafe<string>({ type: 'string', enum: codeNames, description: 'One to one with the status.' }),
    reason: Type.Unsafe<string>({
      type: 'string',
      enum: reasonNames,
      description: 'Stable and machine-readable. The list is closed.',
    }),
    origin: Type.Unsafe<string>({ type: 'string', enum: ['caller', 'gateway', 'ehr'] }),
    retryable: Type.Boolean({ description: 'Whether the same call may succeed later.' }),
    detail: Type.String(),
    request_id: Type.String(),
    errors: Type.Array(faultSchema, { description: 'Where in the request, for each fault.' }),
    attempts_remaining: Type.Optional(
      Type.Integer({
        minimum: 0,
        description: 'With `confirmation_code_incorrect`: how often the person may still try.',
      }),
    ),
  },
  {
    $id: 'Problem',
    description: 'RFC 9457 problem details. No part of it holds personal data, a code or a secret.',
  },
);
type ProblemDocument = Static<typeof problemSchema>;

export const problemMediaType = 'application/problem+json; charset=utf-8';

export function problemDocument(problem: Problem, requestId: string): ProblemDocument {
  const facts = reasons[problem.reason];
  return {
    type: `/problems/${problem.reason}`,
    title: facts.title,
    status: problem.status,
    code: codeOf(problem.status),
    reason: problem.reason,
    origin: facts.origin,
    retryable: problem.retryable,
    detail: problem.detail,
    request_id: requestId,
    errors: problem.faults.map(faultEntry),
    ...problem.extensions,
  };
}

function faultEntry({ place, id, reason, detail }: Fault): Static<typeof faultSchema> {
  return { ...(place ? placeEntry(place) : {}), ...(id === undefined ? {} : { id }), reason, detail };
}

function placeEntry(place: Place): { pointer: string } | { parameter: string } | { header: string } {
  switch (place.in) {
    case 'body':
      return { pointer: place.pointer };
    case 'header':
      return { header: place.header };
    default:
      return { parameter: place.parameter };
  }
}
