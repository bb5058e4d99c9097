import type { AnyOperation } from '../api/route.ts';
import { Problem } from '../problems/problem.ts';
import { problemDocument } from '../problems/problem-document.ts';
import { type Reason, reasons } from '../problems/reasons.ts';

const everyOperation: readonly Reason[] = [
  'request_invalid',
  'credentials_invalid',
  'standard_unsupported',
  'uri_too_long',
  'headers_too_large',
  'rate_limited',
  'internal_error',
  'overloaded',
  'database_unavailable',
];

/** The body reasons also apply to operations without a body, because a caller may send one. */
const writeReasons: readonly Reason[] = [
  'idempotency_key_reused',
  'idempotency_in_progress',
  'content_too_large',
  'media_type_unsupported',
  'outcome_unknown',
];

/** The error responses of an operation by status, with an example for each reason. */
export function problemResponses(operation: AnyOperation, headers: object): Record<number, object> {
  const byStatus = Map.groupBy(possibleProblems(operation), ({ status }) => status);
  return Object.fromEntries(
    [...byStatus].map(([status, problems]) => [
      status,
      {
        description: problems.map(({ reason }) => `\`${reason}\``).join(', '),
        headers,
        content: {
          'application/problem+json': {
            schema: { $ref: 'Problem' },
            examples: Object.fromEntries(
              problems.map((problem) => [
                problem.reason,
                {
                  summary: reasons[problem.reason].title,
                  value: problemDocument(problem, 'c0ffee00-0000-4000-8000-00000000beef'),
                },
              ]),
            ),
          },
        },
      },
    ]),
  );
}

function possibleProblems(operation: AnyOperation): Problem[] {
  const own = [...everyOperation, ...reasonsOfLevel(operation), ...operation.reasons];
  const named = operation.reasonsOfNames ?? [];
  return [
    ...[...new Set(own)].map((reason) => new Problem(reason)),
    ...named.map((reason) => new Problem(reason, { status: 400 })),
  ];
}

function reasonsOfLevel({ level, scopes, method }: AnyOperation): Reason[] {
  return [
    ...(level === 'client' ? [] : (['emr_not_found'] as const)),
    ...(level === 'care_unit' ? (['care_unit_not_found'] as const) : []),
    ...(scopes.length > 0 ? (['scope_missing'] as const) : []),
    ...(method === 'GET' ? [] : writeReasons),
  ];
}
