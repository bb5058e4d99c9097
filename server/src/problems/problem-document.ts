import Type, { type Static } from 'typebox';
import type { Fault, Place, Problem } from './problem.ts';
import { codeNames, codeOf, reasonNames, reasons } from './reasons.ts';

export const reasonSchema = Type.Unsafe<string>({
  $id: 'Reason',
  type: 'string',
  enum: reasonNames,
  description: 'Stable, machine-readable reason of an error. The list is closed.',
});

const faultSchema = Type.Object({
  pointer: Type.Optional(Type.String({ description: 'JSON Pointer (RFC 6901) into the body.' })),
  parameter: Type.Optional(Type.String({ description: 'Path or query parameter.' })),
  header: Type.Optional(Type.String({ description: 'Request header.' })),
  id: Type.Optional(Type.String({ description: 'Id of the appointment at fault, if it was found.' })),
  reason: Type.Unsafe<string>({ $ref: 'Reason' }),
  detail: Type.String(),
});

/** RFC 9457 problem details with the gateway's extension members. */
export const problemSchema = Type.Object(
  {
    type: Type.String({ format: 'uri-reference', description: 'Page that explains the reason.' }),
    title: Type.String(),
    status: Type.Integer(),
    code: Type.Unsafe<string>({
      type: 'string',
      enum: codeNames,
      description: 'Class of the error. Corresponds to the status.',
    }),
    reason: Type.Unsafe<string>({ $ref: 'Reason' }),
    origin: Type.Unsafe<string>({
      type: 'string',
      enum: ['caller', 'gateway', 'ehr'],
      description: 'Which side caused the error.',
    }),
    retryable: Type.Boolean({ description: 'Whether the same request can succeed later.' }),
    detail: Type.String(),
    request_id: Type.String(),
    errors: Type.Array(faultSchema, { description: 'The faults, each with its place in the request.' }),
    attempts_remaining: Type.Optional(
      Type.Integer({
        minimum: 0,
        description: 'Number of attempts left. Present with `confirmation_code_incorrect`.',
      }),
    ),
  },
  {
    $id: 'Problem',
    description: 'RFC 9457 problem details. Never contains personal data, codes or secrets.',
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
    origin: problem.origin,
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
